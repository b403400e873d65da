/** A timeline of the training: how good the model was at each step, and a slider over the steps. */

import { margins, plot } from "../../core/draw/line-chart.js";
import { createPlot } from "../../core/draw/plotly.js";
import { createTransport } from "../../core/figure/controls.js";
import { words } from "../../core/figure/zoom.js";
import { el, h, render } from "../../lib/dom.js";
import { oneDecimal, two } from "../../lib/numbers.js";
import { counted, scores } from "./training-history.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Moment } from "./view.js" */
/** @import { Snapshot } from "./training-history.js" */
/** @import { Theme } from "../../core/page/page-context.js" */

/** Milliseconds per step while playing. */
const BEAT = 900;
const HEIGHT = { letters: 8, rest: 23 };
/** Half the width of the slider's thumb, so that its middle aligns with a step's dot. */
const THUMB = 8;

/** @param {Context} context @param {{now: () => Moment | null, go: (place: number) => void}} actions */
export function createTimeline(context, { now, go }) {
  const { t, theme } = context;
  const chart = h("div", { className: "chart-of-steps" });
  const slider = h("input", { type: "range", min: "0", step: "1", "aria-label": t("Step of the training") });
  const step = h("output", { className: "step-now" });
  const numbers = h("dl", { className: "measured" });
  const transport = createTransport(context, {
    current: () => now()?.place ?? 0,
    last: () => (now()?.history.snapshots.length ?? 0) - 1,
    go,
    beat: BEAT,
  });
  slider.addEventListener("input", () => {
    transport.pause();
    go(Number(slider.value));
  });
  chart.addEventListener("click", (event) => {
    const { left: sliderLeft, width } = slider.getBoundingClientRect();
    const share = (event.clientX - sliderLeft - THUMB) / (width - 2 * THUMB);
    const last = Number(slider.max);
    if (share > -0.1 && share < 1.1) go(Math.min(Math.max(Math.round(share * last), 0), last));
  });
  const closer = createLearningCurves(context, {
    go,
    name: arrow,
    onTurn: () => (chart.hidden = closer.open()),
  });
  const element = h("div", { className: "timeline" }, step, numbers, chart, ...closer.elements, slider, transport.element);

  /** @param {Moment} moment */
  function show({ history: { snapshots }, place }) {
    const names = snapshots.map(({ step }) => counted(step));
    const width = element.clientWidth;
    closer.show(snapshots, place, width);
    const colours = theme();
    const measured = scores(snapshots);
    const tasks = measured[0].direction === null;
    const curves = measured.map(({ direction, values }, i) => ({
      name: direction === null ? t("right") : arrow(direction),
      values,
      colour: i % 2 ? colours.muted : colours.ink,
      dash: i % 2 ? "5 4" : undefined,
    }));
    const maximum = Math.max(10, ...curves.flatMap(({ values }) => values));
    const drawn = plot(
      {
        curves,
        range: [0, Math.ceil(maximum / 10) * 10],
        titles: { x: t("training step"), y: tasks ? t("right, %") : "BLEU" },
        width,
        height: HEIGHT.letters * colours.size + HEIGHT.rest,
        places: names,
        markedIndex: place,
        format: String,
      },
      colours,
    );
    const { left: leftMargin, right: rightMargin } = margins(curves, colours);
    chart.replaceChildren(drawn);
    slider.style.marginLeft = `${leftMargin - THUMB}px`;
    slider.style.width = `${width - leftMargin - rightMargin + 2 * THUMB}px`;
    slider.max = String(snapshots.length - 1);
    slider.value = String(place);
    const stepText = t("Step {step}", { step: names[place] });
    slider.setAttribute("aria-valuetext", stepText);
    render(step, stepText, el("small", {}, stage(place, snapshots)));
    const { loss } = snapshots[place];
    const good = (/** @type {string | null} */ direction, /** @type {number} */ value) =>
      direction === null ? t("{percent} %", { percent: oneDecimal(value) }) : `${oneDecimal(value)} ${arrow(direction)}`;
    render(
      numbers,
      pair(tasks ? t("Held-out loss") : t("Dev loss"), loss === null ? "–" : t("{nats} nats per token", { nats: two(loss) })),
      pair(tasks ? t("Right answers") : "BLEU", measured.map(({ direction, values }) => good(direction, values[place])).join(", ")),
    );
    transport.show(t("snapshot {n} of {count}", { n: place + 1, count: snapshots.length }));
  }

  /**
   * A remark on a step, such as that it is the first.
   * @param {number} place
   * @param {import("./training-history.js").Snapshot[]} snapshots
   */
  function stage(place, snapshots) {
    if (snapshots[place].step === 0) return t("before training");
    return place === snapshots.length - 1 ? t("trained") : "";
  }

  return {
    element,
    show,
    destroy() {
      transport.destroy();
      closer.destroy();
    },
  };
}

/** @param {string} name @param {string} value */
const pair = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));

/** @param {string} direction  e.g. "en-zh" */
const arrow = (direction) => direction.replace("-", " → ");

// The loss and BLEU of every snapshot as a zoomable Plotly chart, in place of the small chart.

const CURVES_HEIGHT = 340;
const DASHES = ["solid", "dash"];

/**
 * @param {Context} context
 * @param {{go: (place: number) => void, name: (direction: string) => string, onTurn: () => void}}
 *   actions onTurn: called after it was opened or closed
 */
function createLearningCurves({ plotter, theme, t }, { go, name, onTurn }) {
  const opener = h("button", { type: "button", className: "button quiet", hidden: !plotter, "aria-expanded": "false" });
  const problem = h("p", { className: "note", role: "alert", hidden: true }, t("The curves did not load. Try again."));
  const plot = h("div", { className: "plot", hidden: true });
  const chart = plotter && createPlot(plot, plotter, { plotly_click: ({ points: [{ pointIndex }] }) => go(pointIndex) });
  let wasOpened = false;
  /** @type {{snapshots: Snapshot[], place: number, width: number} | null} */
  let now = null;

  async function draw() {
    if (!chart || !now) return;
    opener.setAttribute("aria-busy", "true");
    try {
      if (!(await chart.show(figure(curves(now), { width: now.width, height: CURVES_HEIGHT }, theme(), words(t))))) return;
      turn(true);
    } catch {
      wasOpened = false; // the small chart and the button stay
      problem.hidden = false;
    } finally {
      opener.removeAttribute("aria-busy");
    }
  }

  /** @param {boolean} on */
  function turn(on) {
    problem.hidden = true;
    if (plot.hidden === !on) return;
    plot.hidden = !on;
    opener.setAttribute("aria-expanded", String(on));
    onTurn();
  }

  /** @param {NonNullable<typeof now>} shown @returns {Curves} */
  function curves({ snapshots, place }) {
    const colours = theme();
    const measured = scores(snapshots);
    const tasks = measured[0].direction === null;
    const good = measured.map(({ direction, values }, i) => ({
      name: direction === null ? t("right, %") : `BLEU ${name(direction)}`,
      values,
      color: colours.q,
      dash: DASHES[i % DASHES.length],
    }));
    const loss = { name: tasks ? t("Held-out loss") : t("Dev loss"), values: snapshots.map((snapshot) => snapshot.loss ?? NaN), color: colours.k, right: true };
    return {
      steps: snapshots.map(({ step }) => step),
      curves: [...good, loss],
      stepIndex: place,
      titles: {
        x: t("training step"),
        left: tasks ? t("right, %") : "BLEU",
        right: tasks ? t("Held-out loss (nats per token)") : t("Dev loss (nats per token)"),
      },
    };
  }

  function close() {
    wasOpened = false;
    turn(false);
    chart?.clear();
  }

  opener.addEventListener("click", () => {
    wasOpened = !wasOpened;
    if (wasOpened) void draw();
    else close();
  });

  return {
    elements: [opener, problem, plot],
    open: () => !plot.hidden,

    /** @param {Snapshot[]} snapshots @param {number} place @param {number} width  in pixels */
    show(snapshots, place, width) {
      now = { snapshots, place, width };
      opener.textContent = scores(snapshots)[0].direction === null ? t("Loss and accuracy curves") : t("Loss and BLEU curves");
      if (wasOpened) void draw();
    },
    destroy: close,
  };
}

// Curves over training steps as a zoomable Plotly figure (plain data).

/**
 * @typedef {object} Curve
 * @property {string} name
 * @property {number[]} values  one per step
 * @property {string} color
 * @property {string} [dash]  one of Plotly's names
 * @property {boolean} [right]  whether it uses the right axis
 */
/**
 * @typedef {object} Curves
 * @property {number[]} steps
 * @property {Curve[]} curves
 * @property {number} stepIndex  index of the selected step
 * @property {{x: string, left: string, right: string}} titles
 */

const BUTTONS = [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]];

/**
 * @param {Curves} shown
 * @param {{width: number, height: number}} size
 * @param {Theme} theme
 * @param {Record<string, string>} dictionary  of the toolbar
 * @returns {import("../../core/draw/plotly.js").Figure}
 */
function figure({ steps, curves, stepIndex, titles }, size, theme, dictionary) {
  const font = { family: theme.font, size: theme.size, color: theme.ink };
  const title = (/** @type {string} */ text) => ({ text, standoff: 8, font: { ...font, color: theme.muted } });
  const axis = { gridcolor: theme.hatch, zeroline: false, linecolor: theme.muted };
  return {
    data: curves.map(({ name, values, color, dash = "solid", right }) => ({
      type: "scatter",
      mode: "lines+markers",
      name,
      x: steps,
      y: values,
      ...(right ? { yaxis: "y2" } : {}),
      line: { color, dash, width: 2 },
      marker: { color, symbol: right ? "square" : "circle", size: steps.map((_, i) => (i === stepIndex ? 10 : 5)) },
      hovertemplate: "%{y:.2f}",
    })),
    layout: {
      ...size,
      uirevision: String(steps),
      margin: { l: 48, t: 36, r: 48, b: 84 },
      paper_bgcolor: theme.paper,
      plot_bgcolor: theme.paper,
      font,
      hovermode: "x unified",
      dragmode: "zoom",
      legend: { orientation: "h", x: 0, y: -0.25, xanchor: "left", yanchor: "top" },
      modebar: { bgcolor: theme.paper, color: theme.muted, activecolor: theme.ink },
      hoverlabel: { bgcolor: theme.paper, bordercolor: theme.muted, font },
      xaxis: { ...axis, title: title(titles.x), tickformat: ",d" },
      yaxis: { ...axis, title: title(titles.left), rangemode: "tozero" },
      yaxis2: { ...axis, title: title(titles.right), overlaying: "y", side: "right", tickmode: "auto", rangemode: "tozero", showgrid: false },
      shapes: [{ type: "line", x0: steps[stepIndex], x1: steps[stepIndex], yref: "paper", y0: 0, y1: 1, line: { color: theme.muted, width: 1, dash: "dot" } }],
    },
    config: { displayModeBar: true, displaylogo: false, modeBarButtons: BUTTONS, scrollZoom: true, locale: "own", locales: { own: { dictionary, format: {} } } },
  };
}
