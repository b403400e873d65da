/**
 * Addresses in a lesson of a page without a server, in place of `lesson-address.js`: a state is in the
 * fragment, which is sent to no host.
 */

import { readFragment } from "../core/store/address.js";

/** The parameter with the id of the figure. */
const FIGURE = "figure";

/** @type {typeof import("./lesson-address.js").linkedState} */
export function linkedState(window) {
  const parameters = new URLSearchParams(readFragment(window));
  return { id: parameters.get(FIGURE) ?? "", parameters };
}

/** @type {typeof import("./lesson-address.js").lessonAddress} */
export const lessonAddress = (_, parameters, id) => `#${new URLSearchParams([[FIGURE, id], ...Object.entries(parameters).filter(([, value]) => value)])}`;

/** @type {typeof import("./lesson-address.js").openAddress} */
export function openAddress(page, query) {
  const isChinese = new URLSearchParams(query).get("lang") === "zh";
  const file = page === "lab" ? (isChinese ? "lab-zh" : "lab") : isChinese ? "zh" : "index";
  return `${file}.html#${query}`;
}
