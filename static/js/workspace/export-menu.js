/** Exports of the workspace: pictures, numbers, and handouts. */

import { json } from "../core/compute/computed-tensors.js";
import { poster } from "../core/draw/export-picture.js";
import { bindExportPanel, exportWait, livingModels, worksheetOf } from "../core/page/disclosure.js";
import { changes, isChanged, plainChange } from "../core/store/interventions.js";
import { chosenOptions } from "../core/store/link.js";
import { blockName } from "../core/store/model-part-names.js";
import { additionalContents, answerFromShare, isDeparted } from "../core/store/share-contents.js";
import { runKind } from "../core/store/runs-with-and-without-changes.js";
import { keyOf, ofThisRun, runQuestion } from "../core/store/view-requests.js";
import { blockAt } from "../core/wire/model-description.js";
import { Problem } from "../core/wire/reply.js";
import { request, requestBody } from "../core/wire/request.js";
import { errorOf, plane } from "../core/wire/safetensors.js";
import { wholeTensorName } from "../core/wire/tensor-cache.js";
import { csv, shortest } from "../lib/csv.js";
import { find, h } from "../lib/dom.js";
import { npz } from "../lib/npz.js";
import { megabytes } from "../lib/numbers.js";
import { OPTIONS, view } from "../views/index.js";
import { named } from "../core/compute/scoring.js";

/** @import { PageServices } from "./main-figure.js" */
/** @import { Page } from "../core/store/store.js" */
/** @import { View } from "../core/figure/types.js" */

// The contents and the file name of an export of the current view.

/**
 * Whether heads are pooled: the heatmap can show a layer's mean or maximum.
 * @param {import("../core/store/link.js").State} link
 */
function pooled({ view, options }) {
  return view === "attention" && (options.pool ?? "one") !== "one";
}

/**
 * The complete tensors behind a view's picture: those that it needs, and those that it requests
 * separately.
 * @param {Page} page
 * @param {View} view
 * @returns {string[]}  names or patterns
 */
export function tensorsBehind(page, view) {
  const requested = (view.asks?.(page) ?? []).flatMap((question) =>
    "trace" in question && ofThisRun(page, question) ? selected(question.trace) : [],
  );
  const needed = view.needs(page).flatMap((address) => wholeTensorName(address) ?? []);
  const select = [...new Set([...needed, ...requested])];
  return select.length ? select : [`${blockAt(page).query}.position`];
}

/**
 * The tensors that a share contains.
 * @param {Page} page
 * @param {string[]} select
 */
function frozen(page, select) {
  // Weights in 8 bits are read when they are shown.
  if (page.trace?.rounded) return { ...page.trace, tensors: Object.fromEntries(select.flatMap((name) => (page.trace?.tensors[name] ? [[name, page.trace.tensors[name]]] : []))) };
  return answerFromShare(page, runQuestion(page, { select })) ?? page.trace;
}

/** @type {Record<"json" | "npz", string>} */
const FORMS = { json: "application/json", npz: "application/x-npz" };

/**
 * The request for a file made by the server: the numbers in one of its formats, or a handout.
 * @param {Page} page
 * @param {View} view
 * @param {"json" | "npz" | "html"} kind
 * @param {{theme: "light" | "dark", options: import("../core/store/link-options.js").Options, tiles?: object[]}} look  of the
 *   page; tiles: the windows of a long text that it shows
 * @returns {{path: string, body?: object, accept?: string}}
 */
export function fileRequest(page, view, kind, { theme, options, tiles = [] }) {
  const { link, model } = page;
  const share = isDeparted(page) ? null : page.share;
  const id = encodeURIComponent(share?.id ?? "");
  if (kind !== "html") {
    const accept = FORMS[kind];
    const subject = view.subject?.(page);
    if (subject) return { path: frozenPath(page, view) ?? subject.path, accept };
    if (share) return { path: `/api/shares/${id}`, accept };
    return { path: "/api/trace", accept, body: request(page.model, link, tensorsBehind(page, view)) };
  }
  if (share)
    return { path: `/s/${id}/handout.html?${new URLSearchParams({ lang: link.lang, theme })}` };
  const { options: _, ...keys } = link;
  const setKeys = Object.entries(keys).filter(([, value]) => value !== null);
  const state = requestBody(model, { ...Object.fromEntries(setKeys), ...chosenOptions(link, options) });
  return { path: `/api/handout?theme=${theme}`, body: { state, asks: additionalContents(page, view).asks, ...(tiles.length && { tiles }) } };
}

/**
 * The path of the frozen data that a share's view shows instead of its run.
 * @param {Page} page
 * @param {View} view
 */
function frozenPath({ share, ...page }, view) {
  const requested = (view.asks?.({ share, ...page }) ?? []).map(keyOf);
  const n = share?.asks.findIndex((question) => requested.includes(keyOf(question))) ?? -1;
  return share && n >= 0 ? `/api/shares/${encodeURIComponent(share.id)}/asks/${n}` : null;
}

/** @param {object} request */
const selected = (request) => /** @type {{select?: string[]}} */ (request).select ?? [];

/**
 * The name of the file; for a changed model it says so.
 * @param {Page} page
 * @param {View} view
 * @param {string} ending  e.g. "png"
 * @returns {string}  e.g. "headlight-en-zh-attention-cross-layer-2-head-3.png"
 */
export function nameOf(page, { id, frame, subject }, ending) {
  const { link, model } = page;
  const subjectRun = subject?.(page);
  const rail = subjectRun ? "both" : frame.rail;
  const layer = rail === "none" ? [] : ["layer", link.layer + 1];
  const head = rail !== "both" ? [] : pooled(link) ? [link.options.pool] : ["head", link.head + 1];
  const suffix = subjectRun ? [subjectRun.name] : isChanged(link) ? [runKind(link) === "trained" ? "as-trained" : "changed"] : [];
  return `${["headlight", model?.id, id, link.block, ...layer, ...head, ...suffix].join("-")}.${ending}`;
}

// A picture as a PDF. The browser prints it on a single page of its size, with the page's fonts, so
// that it stays vector graphics and Chinese stays text. No data is sent anywhere.

/**
 * @param {{svg: string, width: number, height: number}} picture
 * @param {string} name  the file name, which browsers take from the title
 */
function printPicture({ svg, width, height }, name) {
  const root = document.documentElement;
  const paper = h("div", { className: "paper", "aria-hidden": "true" });
  paper.append(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement);
  const size = new CSSStyleSheet();
  size.replaceSync(`@page { size: ${width}px ${height}px; margin: 0; }`);
  const { title, adoptedStyleSheets: before } = document;

  document.body.append(paper);
  document.adoptedStyleSheets = [...before, size];
  document.title = name.replace(/\.pdf$/, "");
  root.classList.add("prints-picture");
  window.addEventListener("afterprint", restore, { once: true });
  window.print();

  function restore() {
    root.classList.remove("prints-picture");
    document.title = title;
    document.adoptedStyleSheets = before;
    paper.remove();
  }
}

/** @typedef {"png" | "svg" | "pdf" | "csv" | "json" | "npz" | "html" | "living"} Kind */

/** Formats of pictures. */
const PICTURES = ["png", "svg", "pdf"];
/** The largest number of characters of a text above its picture. */
const TITLE = 400;
/** The scale of a PNG. */
const SCALE = 2;

/**
 * @param {PageServices} context
 * @param {Kind[]} [kinds]  fewer without a server
 */
export function bindExport(context, kinds = ["png", "svg", "pdf", "csv", "json", "npz", "html", "living"]) {
  const { t, store } = context;
  const living = livingModels();
  const ownModel = () => living[store.get().model?.digest ?? ""];
  const words = wordings(t, Math.max(...Object.values(living).map(({ bytes }) => bytes)));
  bindExportPanel({
    t,
    kinds: kinds.filter((kind) => kind !== "living" || Object.keys(living).length).map((kind) => ({ kind, ...words[kind] })),
    async make(kind) {
      const page = store.get();
      const name = nameOf(page, view(page.link.view), ENDINGS[kind] ?? kind);
      if (kind !== "pdf") return { file: await make(context, /** @type {Exclude<Kind, "pdf">} */ (kind)), name };
      printPicture(drawn(context), name);
      return { says: t("Choose “Save as PDF” in the print dialog.") };
    },
    lacks: (kind) => (kind === "living" ? !ownModel() : PICTURES.includes(kind) && !context.figure.shown().picture?.()),
    waits: (kind) => (kind === "living" ? exportWait(t, ownModel()) : ""),
    ...(kinds.includes("html") && { worksheet: () => worksheetOf(linkOf(context), store.get().link.lang) }),
  });
}

/** The path of a share that is not changed, or else of the page. @param {PageServices} context */
function linkOf({ store, format }) {
  const page = store.get();
  return page.share && !isDeparted(page) ? `/s/${page.share.id}` : `/?${format(page.link)}`;
}

/** The endings of files that are not named as their kind. @type {Record<string, string>} */
const ENDINGS = { living: "runs.html" };

/** @param {PageServices["t"]} t @param {number} bytes  of a handout with its model @returns {Record<Kind, {name: string, says: string}>} */
const wordings = (t, bytes) => ({
  png: { name: "PNG", says: t("the picture, for slides") },
  svg: { name: "SVG", says: t("the picture, to scale and edit") },
  pdf: { name: "PDF", says: t("the picture, to print or to put into a paper") },
  csv: { name: "CSV", says: t("the numbers, for a spreadsheet") },
  json: { name: "JSON", says: t("the numbers, as the API sends them") },
  npz: { name: "NPZ", says: t("the numbers, for NumPy") },
  html: { name: "HTML", says: t("a handout: opens anywhere, without a network") },
  living: { name: t("Handout that runs"), says: t("the model too, {size} MB: reads other sentences without a network", { size: megabytes(bytes) }) },
});

/** @param {PageServices} context @param {Exclude<Kind, "pdf">} kind @returns {Promise<Blob>} */
async function make(context, kind) {
  if (kind === "png") return pixels(drawn(context));
  if (kind === "svg") return new Blob([drawn(context).svg], { type: "image/svg+xml" });
  const { store, api } = context;
  const page = store.get();
  const subjectRun = view(page.link.view);
  const { numbers, tiles } = context.figure.shown();
  if (numbers && kind !== "html" && kind !== "living") return written(page, kind, numbers());
  if (kind !== "csv") {
    const living = kind === "living";
    const { path, ...requested } = fileRequest(page, subjectRun, living ? "html" : kind, { theme: dark() ? "dark" : "light", options: OPTIONS, tiles: tiles?.() });
    return api.file(living ? `${path}&runs=true` : path, requested);
  }
  const subject = subjectRun.subject?.(page);
  if (subject) return table(subject.trace);
  const select = tensorsBehind(page, subjectRun);
  const trace = page.share && !isDeparted(page) ? frozen(page, select) : await api.trace(request(page.model, page.link, select));
  if (!trace) throw new Problem("nothing-drawn");
  return table(named(trace));
}

/**
 * A file of numbers that the view computed itself.
 * @param {import("../core/store/store.js").Page} page
 * @param {"csv" | "json" | "npz"} kind
 * @param {import("../core/compute/computed-tensors.js").ComputedTensors | null} numbers
 */
function written({ link, model, trace }, kind, numbers) {
  if (!numbers || !trace) throw new Problem("nothing-drawn");
  if (kind === "csv") return table(numbers);
  const { options, ...state } = link;
  const about = { model: model?.id, direction: trace.direction, state: { ...state, ...chosenOptions(link, OPTIONS) } };
  if (kind === "json") return new Blob([json(numbers, about)], { type: "application/json" });
  const tensors = Object.entries(numbers.tensors).map(([name, { data, ...description }]) => [name, description]);
  const words = JSON.stringify({ ...about, tokens: numbers.tokens, tensors: Object.fromEntries(tensors) });
  return npz(numbers.tensors, { "trace.json": words });
}

/** @param {Pick<import("../core/compute/computed-tensors.js").ComputedTensors, "tokens" | "tensors">} trace */
function table(trace) {
  const tensors = Object.fromEntries(Object.entries(trace.tensors).map(([name, tensor]) => [name, withDecimals(tensor)]));
  return new Blob([csv({ ...trace, tensors }, Object.keys(tensors))], { type: "text/csv" });
}

/** Of weights in 8 bits: three. */
const DECIMALS = 1000;

/** @param {import("../core/wire/safetensors.js").Tensor} tensor @returns {import("../core/wire/safetensors.js").Tensor}  Weights in 8 bits have no digits that are not known. */
function withDecimals(tensor) {
  if (!tensor.rounded) return tensor;
  const heads = Array.from({ length: tensor.shape[0] }, (_, head) => {
    const digits = (/** @type {number} */ value) => (errorOf(tensor, head) ? Math.round(value * DECIMALS) / DECIMALS : Number(shortest(value)));
    return Array.from(plane(tensor, { head }).values, digits);
  });
  const data = /** @type {any} */ (Float64Array.from(heads.flat()));
  return { ...tensor, dtype: "float64", data };
}

const dark = () => find("#theme").getAttribute("aria-pressed") === "true";

/** @param {PageServices} context  The page's own words, and no address: a picture is shown to others. */
function drawn(context) {
  const { store, t, theme } = context;
  const page = store.get();
  const { link, model } = page;
  const subjectRun = view(link.view);
  const picture = context.figure.shown().picture?.();
  const subject = subjectRun.subject?.(page);
  const { source, trace } = subject ?? { source: link.source, trace: page.trace };
  if (!picture || !trace) throw new Problem("nothing-drawn");
  const rail = subject ? "both" : subjectRun.frame.rail;
  const layer = rail === "none" ? "" : t("Layer {n}", { n: link.layer + 1 });
  const head = rail === "both" && !pooled(link) ? t("Head {n}", { n: link.head + 1 }) : "";
  const block = blockName(link.block, t);
  const changed = subject ? [] : changes(link).map((change) => plainChange(change, { trace, model }, t));
  const words = {
    title: [shortened(source.trim()), ...(trace.output.text ? [trace.output.text] : [])].join(" → "),
    place: [subjectRun.name(t), block, layer, head, subject?.says(t)].filter(Boolean).join(" · "),
    changed: !changed.length ? "" : runKind(link) === "trained" ? t("As trained") : `${t("Changed model")}: ${changed.join(" · ")}`,
    caption: find("#caption").textContent ?? "",
    footer: ["Headlight", model?.name, model?.digest.slice(0, 12)].filter(Boolean).join(" · "),
  };
  const colors = theme();
  return poster(picture.svg, words, colors, (text, size, weight) => measure(colors.font, text, size, weight));
}

/** @param {string} text  Its beginning, where it is a long one. */
const shortened = (text) => (text.length > TITLE ? `${text.slice(0, TITLE)}…` : text);

/** @param {string} font @param {string} text @param {number} size @param {number} weight */
function measure(font, text, size, weight) {
  const ruler = /** @type {CanvasRenderingContext2D} */ (h("canvas", {}).getContext("2d"));
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
