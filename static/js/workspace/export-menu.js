/** Exports of the workspace: pictures, numbers, and handouts. */

import { request } from "../core/wire/request.js";
import { Problem } from "../core/wire/problem.js";
import { named } from "../views/qkv/score-names.js";
import { changes, plainly } from "../core/store/interventions.js";
import { departed } from "../core/store/share-contents.js";
import { shownAs } from "../core/store/two-runs.js";
import { csv } from "../lib/csv.js";
import { blockName } from "../core/store/model-part-names.js";
import { find, h } from "../lib/dom.js";
import { bindExportPanel } from "../core/page/export-panel.js";
import { behind, frozen, made, nameOf, pooled } from "./export-contents.js";
import { npz } from "../lib/npz.js";
import { poster } from "../core/draw/export-picture.js";
import { printPicture } from "./print-picture.js";
import { json } from "../core/compute/computed-tensors.js";
import { chosen } from "../core/store/link.js";
import { OPTIONS, view } from "../views/index.js";

/** @import { Desk } from "./types.js" */
/** @typedef {"png" | "svg" | "pdf" | "csv" | "json" | "npz" | "html"} Kind */

/** Formats of pictures. */
const PICTURES = ["png", "svg", "pdf"];
/** The largest number of characters of a text above its picture. */
const TITLE = 400;
/** The scale of a PNG. */
const SCALE = 2;

/**
 * @param {Desk} context
 * @param {Kind[]} [kinds]  fewer without a server
 */
export function bindExport(context, kinds = ["png", "svg", "pdf", "csv", "json", "npz", "html"]) {
  const { t, store } = context;
  const words = wordings(t);
  bindExportPanel({
    t,
    kinds: kinds.map((kind) => ({ kind, ...words[kind] })),
    async make(kind) {
      const page = store.get();
      const name = nameOf(page, view(page.link.view), kind);
      if (kind !== "pdf") return { file: await make(context, /** @type {Exclude<Kind, "pdf">} */ (kind)), name };
      printPicture(drawn(context), name);
      return { says: t("Choose “Save as PDF” in the print dialog.") };
    },
    lacks: (kind) => PICTURES.includes(kind) && !context.figure.shown().picture?.(),
  });
}

/** @param {Desk["t"]} t @returns {Record<Kind, {name: string, says: string}>} */
const wordings = (t) => ({
  png: { name: "PNG", says: t("the picture, for slides") },
  svg: { name: "SVG", says: t("the picture, to scale and edit") },
  pdf: { name: "PDF", says: t("the picture, to print or to put into a paper") },
  csv: { name: "CSV", says: t("the numbers, for a spreadsheet") },
  json: { name: "JSON", says: t("the numbers, as the API sends them") },
  npz: { name: "NPZ", says: t("the numbers, for NumPy") },
  html: { name: "HTML", says: t("a handout: opens anywhere, without a network") },
});

/**
 * @param {Desk} context
 * @param {Exclude<Kind, "pdf">} kind
 * @returns {Promise<Blob>}
 */
async function make(context, kind) {
  if (kind === "png") return pixels(drawn(context));
  if (kind === "svg") return new Blob([drawn(context).svg], { type: "image/svg+xml" });
  const { store, api } = context;
  const page = store.get();
  const shown = view(page.link.view);
  const { numbers, tiles } = context.figure.shown();
  if (numbers && kind !== "html") return written(page, kind, numbers());
  if (kind !== "csv") {
    const { path, ...asked } = made(page, shown, kind, { theme: dark() ? "dark" : "light", options: OPTIONS, tiles: tiles?.() });
    return api.file(path, asked);
  }
  const subject = shown.subject?.(page);
  if (subject) return table(subject.trace);
  const select = behind(page, shown);
  const trace = page.share && !departed(page) ? frozen(page, select) : await api.trace(request(page.model, page.link, select));
  if (!trace) throw new Problem("nothing-drawn");
  return table(named(trace));
}

/**
 * A file of numbers that the view computed itself.
 * @param {import("../core/store/store.js").Page} page
 * @param {"csv" | "json" | "npz"} kind
 * @param {import("../core/compute/computed-tensors.js").Shown | null} numbers
 */
function written({ link, model, trace }, kind, numbers) {
  if (!numbers || !trace) throw new Problem("nothing-drawn");
  if (kind === "csv") return table(numbers);
  const { options, ...state } = link;
  const about = { model: model?.id, direction: trace.direction, state: { ...state, ...chosen(link, OPTIONS) } };
  if (kind === "json") return new Blob([json(numbers, about)], { type: "application/json" });
  const tensors = Object.entries(numbers.tensors).map(([name, { data, ...rest }]) => [name, rest]);
  const words = JSON.stringify({ ...about, tokens: numbers.tokens, tensors: Object.fromEntries(tensors) });
  return npz(numbers.tensors, { "trace.json": words });
}

/** @param {Pick<import("../core/compute/computed-tensors.js").Shown, "tokens" | "tensors">} trace */
const table = (trace) => new Blob([csv(trace, Object.keys(trace.tensors))], { type: "text/csv" });

const dark = () => find("#theme").getAttribute("aria-pressed") === "true";

/** @param {Desk} context  The page's own words, and no address: a picture is shown to others. */
function drawn(context) {
  const { store, t, theme } = context;
  const page = store.get();
  const { link, model } = page;
  const shown = view(link.view);
  const taken = context.figure.shown().picture?.();
  const subject = shown.subject?.(page);
  const { source, trace } = subject ?? { source: link.source, trace: page.trace };
  if (!taken || !trace) throw new Problem("nothing-drawn");
  const rail = subject ? "both" : shown.frame.rail;
  const layer = rail === "none" ? "" : t("Layer {n}", { n: link.layer + 1 });
  const head = rail === "both" && !pooled(link) ? t("Head {n}", { n: link.head + 1 }) : "";
  const block = blockName(link.block, t);
  const changed = subject ? [] : changes(link).map((change) => plainly(change, { trace, model }, t));
  const words = {
    title: [shortened(source.trim()), ...(trace.output.text ? [trace.output.text] : [])].join(" → "),
    place: [shown.name(t), block, layer, head, subject?.says(t)].filter(Boolean).join(" · "),
    changed: !changed.length ? "" : shownAs(link) === "trained" ? t("As trained") : `${t("Changed model")}: ${changed.join(" · ")}`,
    caption: find("#caption").textContent ?? "",
    footer: ["Headlight", model?.name, model?.digest.slice(0, 12)].filter(Boolean).join(" · "),
  };
  const look = theme();
  return poster(taken.svg, words, look, (text, size, weight) => measure(look.font, text, size, weight));
}

/** @param {string} text  Its beginning, where it is a long one. */
const shortened = (text) => (text.length > TITLE ? `${text.slice(0, TITLE)}…` : text);

const ruler = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));

/** @param {string} font @param {string} text @param {number} size @param {number} weight */
function measure(font, text, size, weight) {
  ruler.font = `${weight} ${size}px ${font}`;
  return ruler.measureText(text).width;
}

/** @param {{svg: string, width: number, height: number}} drawing @returns {Promise<Blob>} */
async function pixels({ svg, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = h("canvas", { width: width * SCALE, height: height * SCALE });
  const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  brush.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Problem("too-large"))), "image/png"),
  );
}
