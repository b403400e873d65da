/**
 * What a page in one file leaves out, in the place of the modules that have it: `app/assets/bundles.py` lists
 * which page leaves out what.
 */

import { Problem } from "../core/wire/reply.js";
import { sharedData } from "../core/wire/frozen-replies.js";
import { h } from "../lib/dom.js";

/** @import { Translate } from "../lib/i18n.js" */

// plotly.js

/** @type {typeof import("../core/draw/plotly.js").createPlotter} */
export function createPlotter() {
  throw new Error("a page in one file has no plotly.js");
}

/** @type {typeof import("../core/draw/plotly.js").createPlot} */
export function createPlot() {
  throw new Error("a page in one file has no plotly.js");
}

/** @type {typeof import("../core/figure/zoom.js").words} */
export function words() {
  throw new Error("a page in one file has no plotly.js");
}

/** @type {typeof import("../core/figure/zoom.js").createZoom} */
export const createZoom = () => ({ elements: [], draw() {}, size: () => null, mark() {}, destroy() {} });

/** Only the plane is shown. @type {typeof import("../views/space/points-in-3d.js").createSolid} */
export const createSolid = () => ({ element: h("div", { hidden: true }), shown: () => false, show() {}, clear() {} });

// An export of the numbers

/** @type {typeof import("../lib/npz.js").npz} */
export const npz = () => new Blob();

// Tiles of a long text, which a server makes: the trace has all its weights.

/** @type {typeof import("../long/map/view.js").mountLong} */
export function mountLong() {
  throw new Error("a page in one file has no tiles of a long text");
}

// A second model to be B

/** @type {typeof import("../compare-models/model-comparison.js").otherModels} */
export const otherModels = () => [];

/** @type {typeof import("../compare-models/model-comparison.js").runB} */
export const runB = () => null;

/** @type {typeof import("../compare-models/model-comparison.js").placed} */
export const placed = ({ link }) => link;

/** @type {typeof import("../compare-models/comparison-view.js").mountModels} */
export function mountModels() {
  throw new Error("a page with one model cannot compare two");
}

// A score that is split

/** @type {typeof import("../views/qkv/score-breakdown.js").needed} */
export const needed = () => [];

/** @type {typeof import("../views/qkv/score-breakdown.js").scoreQuestions} */
export const scoreQuestions = () => [];

/** @type {typeof import("../views/qkv/score-breakdown.js").createBreakdown} */
export const createBreakdown = () => ({ element: h("details", { hidden: true }), draw() {}, light() {} });

// A server

const lacks = async () => {
  throw new Problem("frozen");
};

/** @param {(path: string) => Promise<Response>} ask  reads the share that lies in the file */
export const createApi = (ask) => ({ ...sharedData({ ask }), models: async () => [], trace: lacks, answer: lacks, file: lacks });

/** What can fail without a server. @type {Record<string, (t: Translate) => string>} */
const WORDING = {
  frozen: (t) => t("This was not saved with the share, and its model is no longer served here."),
  "nothing-drawn": (t) => t("There is nothing to save yet."),
  unmade: (t) => t("The file could not be made."),
};

/** @type {typeof import("../core/figure/problem-wording.js").wording} */
export const wording = (t, { kind }) => (WORDING[kind] ? WORDING[kind](t) : t("Something went wrong on this page. Try again, or reload it."));
