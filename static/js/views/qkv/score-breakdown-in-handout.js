/** Replaces `score-breakdown.js` in a handout in which no score is split. */

import { h } from "../../lib/dom.js";

/** @type {typeof import("./score-breakdown.js").needed} */
export const needed = () => [];

/** @type {typeof import("./score-breakdown.js").scoreQuestions} */
export const scoreQuestions = () => [];

/** @type {typeof import("./score-breakdown.js").createBreakdown} */
export const createBreakdown = () => ({ element: h("details", { hidden: true }), draw() {}, light() {} });
