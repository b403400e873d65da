/**
 * A matrix with its labels: the chart, the tokens along both sides, highlights, a tooltip, and
 * pointer and key handling. It knows only rows and columns; their meaning is up to the view.
 */

import { h, render } from "../../lib/dom.js";
import { memo } from "../../lib/memo.js";
import { COVER } from "../compute/aggregate-attention.js";
import { createChart, hasRoom } from "../draw/matrix-canvas.js";
import { boxOf, fitGeometry, lineHeight, placeAt } from "../draw/matrix-geometry.js";
import { visibleLabels, clippedSteps, colClash, createLabels, rowClash, textRuler, isUpright } from "../draw/matrix-labels.js";
import { matrixSvg } from "../draw/matrix-svg.js";
import { createEnds, roomForEnds } from "../draw/row-bars.js";
import { texts } from "../wire/model-description.js";
import { onArrows, within } from "./pointing.js";
import { meaning } from "./figure-frame.js";
import { createZoom } from "./zoom.js";

/** @import { Context } from "./types.js" */
/** @import { Theme } from "../page/page-context.js" */
/** @import { Geometry, Place } from "../draw/matrix-geometry.js" */
/** @import { Step } from "../wire/tokens.js" */

// Pointer and key handling on a matrix.

/** @typedef {{row: number, col: number}} Cell */
/**
 * @typedef {object} Gestures
 * @property {() => Geometry | null} geometry  null until something is drawn
 * @property {(place: Place | null) => void} onPoint
 * @property {(place: Place, trigger: "click" | "key") => void} onPick
 * @property {() => Cell | null} picked  where the arrow keys start
 */

/** @param {HTMLElement} element @param {Gestures} gestures */
function bindGestures(element, { geometry, onPoint, onPick, picked }) {
  /** @param {MouseEvent} event */
  function under(event) {
    const frame = element.getBoundingClientRect();
    const drawn = geometry();
    const place = drawn && placeAt(drawn, event.clientX - frame.left, event.clientY - frame.top);
    // The labels of rows stay in place while the cells are scrolled.
    const names = /** @type {Element} */ (event.target).closest?.(".labels.rows");
    return place && names ? { ...place, col: null } : place;
  }

  element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") onPoint(under(event));
  });
  element.addEventListener("pointerleave", () => onPoint(null));
  element.addEventListener("click", (event) => {
    const place = under(event);
    if (place) onPick(place, "click");
  });
  onArrows(element, (down, right) => {
    const drawn = geometry();
    if (!drawn) return false;
    const { row, col } = picked() ?? { row: 0, col: 0 };
    onPick({ row: within(row + down, drawn.rows), col: within(col + right, drawn.cols) }, "key");
    return true;
  });
}

// The highlighted row, column and cell of a matrix, and the tooltip of the hovered cell.

function createMatrixHighlight() {
  const [row, col, cell] = ["row", "col", "cell"].map((part) =>
    h("div", { className: `mark ${part}`, hidden: true }),
  );
  const tip = h("div", { className: "tip", hidden: true, role: "presentation" });
  return {
    elements: [row, col, cell, tip],

    /** @param {Geometry} geometry @param {Place} place */
    show(geometry, place) {
      const inRows = place.row !== null && place.row < geometry.rows;
      const inCols = place.col !== null && place.col < geometry.cols;
      lay(row, inRows && boxOf(geometry, { ...place, col: null }));
      lay(col, inCols && boxOf(geometry, { ...place, row: null }));
      lay(cell, inRows && inCols && boxOf(geometry, place));
    },

    /**
     * @param {Geometry | null} geometry
     * @param {Place | null} place
     * @param {(cell: {row: number, col: number}) => import("../../lib/dom.js").Child[]} contentOf
     */
    tell(geometry, place, contentOf) {
      const { row = null, col = null } = place ?? {};
      tip.hidden = row === null || col === null || !geometry;
      if (row === null || col === null || !geometry) return;
      render(tip, contentOf({ row, col }));
      // Outside the row, so that its other cells stay visible, and towards the middle.
      const { left, top, width, height } = boxOf(geometry, { row, col });
      const [end, below] = [col >= geometry.cols / 2, row < 2];
      tip.classList.toggle("end", end);
      tip.classList.toggle("below", below);
      tip.style.left = `${end ? left + width : left}px`;
      tip.style.top = `${below ? top + height : top}px`;
    },
  };
}

/** @param {HTMLElement} mark @param {ReturnType<typeof boxOf> | false} area */
function lay(mark, area) {
  mark.hidden = !area;
  for (const [side, length] of Object.entries(area || {})) {
    mark.style.setProperty(side, `${length}px`);
  }
}

/**
 * @typedef {object} Options
 * @property {string} label  the accessible name
 * @property {(place: Place | null) => void} onHover
 * @property {(place: Place, trigger: "click" | "key") => void} onPick
 * @property {() => {row: number, col: number} | null} picked  where the arrow keys start
 * @property {(cell: {row: number, col: number}) => import("../../lib/dom.js").Child[]} tip
 * @property {boolean} [zoomed]  whether it opens zoomable
 */
/**
 * @typedef {object} Content
 * @property {import("../wire/safetensors.js").Matrix} matrix
 * @property {Uint8Array} [cover]  why a cell shows no number; absent: NaN is masked
 * @property {import("../draw/row-bars.js").Ends | null} [ends]  the bars at the ends of rows
 * @property {import("../draw/matrix-canvas.js").Shade} shade
 * @property {Step[]} rows
 * @property {Step[]} cols  empty: columns have no labels
 * @property {{rows: string, cols: string}} titles
 * @property {number} width  to fit into
 * @property {number} height  to fit into
 * @property {number} [stretch]  largest ratio of a cell's width to its height
 * @property {number} [largest]
 * @property {boolean} [bare]  whether the labels of rows are those of the matrix beside it
 * @property {{rows: number[], cols: number[]}} [changed]  positions whose labels are shown first
 */

/** The largest share of the width for the labels of rows. */
const MAX_LABEL_SHARE = 0.2;
/** The smallest cell in pixels; what does not fit is scrolled. */
const LEAST = 18;
/**
 * In projector mode every row has its label, legible from the last row of a room: what does not fit is
 * scrolled. Cells may be this much wider than high, so that a figure has the whole width.
 */
const [PROJECTED_LABEL, PROJECTED_STRETCH] = [18, 5];

/** @param {Context} context */
const isProjected = (context) => context.room().wide && context.theme().projected === true;

/** The theme with letters of at least the size for a projector. @param {Theme} theme */
const projectedTheme = (theme) => (theme.size >= PROJECTED_LABEL ? theme : memo(theme, "projected", () => ({ ...theme, size: PROJECTED_LABEL })));

/** @param {Context} context @param {Options} options */
export function createMatrix(context, options) {
  const { label, onHover, onPick, picked, tip, zoomed } = options;
  const host = h("div", { className: "chart" });
  const labels = createLabels();
  const ends = createEnds();
  const marks = createMatrixHighlight();
  const field = h(
    "div",
    { className: "matrix", tabIndex: 0, role: "application", "aria-label": label },
    host,
    ends.element,
    labels.elements,
    marks.elements,
  );
  const element = h("div", { className: "panned" }, field);
  element.addEventListener("scroll", () => labels.follow(element.scrollLeft), { passive: true });
  const zoom = createZoom(context, { onHover, onPick: (place) => onPick(place, "click"), onTurn: measure, opens: zoomed });
  field.append(...zoom.elements);
  const chart = createChart(host);
  /** @type {Geometry | null} */
  let geometry = null;
  let wide = 0;
  /** @type {import("../draw/matrix-svg.js").Plate | null} */
  let plate = null;
  /** @type {Place} */
  let lit = { row: null, col: null };

  bindGestures(field, {
    geometry: () => geometry,
    onPoint(place) {
      onHover(place);
      marks.tell(geometry, place, tip);
    },
    onPick,
    picked,
  });

  /** Set the element's size to that of its contents. */
  function measure() {
    const { width, height } = zoom.size() ?? { width: wide, height: geometry?.height ?? 0 };
    field.style.width = `${width}px`;
    field.style.height = `${height}px`;
    field.classList.toggle("closer", zoom.size() !== null);
  }

  return {
    element,

    /** @param {Content} content */
    draw({ matrix, cover, ends: share = null, shade, rows, cols, titles, changed, ...room }) {
      const projected = isProjected(context);
      const theme = projected ? projectedTheme(context.theme()) : context.theme();
      const names = { rows: texts(rows), cols: texts(cols) };
      const ruled = textRuler(theme);
      const upright = names.cols.map(isUpright);
      const beside = clippedSteps(shortened(rows, ruled, room.width), ruled, room.width);
      const above = clippedSteps(cols, ruled, room.width);
      const aside = share ? roomForEnds(share, room.width, ruled) : 0;
      const rowWidths = texts(beside).map(ruled);
      const colWidths = texts(above).map(ruled);
      const least = projected ? lineHeight(theme.size) : context.room().wide ? 0 : LEAST;
      const stretch = projected && (room.stretch ?? 1) > 1 ? Math.max(room.stretch ?? 1, PROJECTED_STRETCH) : room.stretch;
      geometry = fitGeometry({ rowWidths, colWidths, upright, cols: matrix.cols, size: theme.size, least, ...room, stretch, width: room.width - aside });
      const places = {
        rows: side(rows, rowClash(geometry), changed?.rows),
        cols: side(above, colClash(geometry, colWidths, upright), changed?.cols),
      };
      if (room.bare) places.rows.shown.fill(false);
      wide = geometry.width + ends.draw(geometry, share, theme, aside);
      const picture = { matrix, cover, geometry, shade, theme, labels: names, titles: room.bare ? { ...titles, rows: "" } : titles };
      chart.draw(picture);
      labels.write(geometry, { rows: beside, cols: above }, upright, titles, places, room.width);
      element.classList.toggle("bare", Boolean(room.bare));
      element.classList.toggle("scrolls", wide > room.width);
      zoom.draw(picture, room, !hasRoom(geometry, theme, shade.range, matrix.error));
      measure();
      plate = { ...picture, labels: { rows: texts(beside), cols: texts(above) }, upright, named: { rows: places.rows.shown, cols: places.cols.shown }, ends: share, room: aside };
    },

    /** @param {Place} place  Lights it. */
    mark(place) {
      lit = place;
      if (geometry) marks.show(geometry, place);
      if (geometry && element.classList.contains("scrolls")) reveal(element, geometry, place.col);
      labels.light(place);
      zoom.mark(place);
    },

    /**
     * The drawing with labels, highlights and legend, for an export; null before the first drawing.
     */
    drawing: () => plate && matrixSvg(plate, lit, meaning(context.t, { shade: plate.shade, covers: covering(plate) })),

    destroy() {
      zoom.destroy();
      chart.destroy();
      element.remove();
    },
  };
}

/**
 * The reasons for which its cells show no number.
 * @param {Pick<Content, "matrix" | "cover">} content
 */
const covering = ({ matrix, cover }) => new Set(cover ?? (matrix.values.some(Number.isNaN) ? [COVER.masked] : []));

/**
 * Which labels of a side are shown: changed tokens and special ones first.
 * @param {Step[]} steps
 * @param {import("../draw/matrix-labels.js").Clash} clash
 * @param {number[]} [changed]
 */
function side(steps, clash, changed = []) {
  const special = steps.flatMap(({ writes }, i) => (writes.special && !writes.pad ? [i] : []));
  return { shown: visibleLabels(steps.length, clash, [...changed, ...special]), clash };
}

/**
 * Scroll just enough to make a column visible.
 * @param {HTMLElement} element
 * @param {Geometry} geometry
 * @param {number | null} col
 */
function reveal(element, { left, cellWidth }, col) {
  if (col === null) return;
  const [from, to] = [col * cellWidth, left + (col + 1) * cellWidth - element.clientWidth];
  if (element.scrollLeft > from) element.scrollLeft = from;
  else if (element.scrollLeft < to) element.scrollLeft = to;
}

/**
 * Omit the tokens that decoder steps have read if the labels would take too much width.
 * @param {Step[]} rows
 * @param {(text: string) => number} measure
 * @param {number} width
 */
function shortened(rows, measure, width) {
  const longest = Math.max(...texts(rows).map(measure));
  if (longest < MAX_LABEL_SHARE * width) return rows;
  return rows.map((step) => ({ ...step, short: step.reads !== null }));
}
