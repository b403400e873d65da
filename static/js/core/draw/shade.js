/** The colours of weights: linear, or logarithmic from the least that the page prints. */

import { sequential, shares } from "./scale.js";

/** Where a logarithmic scale begins: the least that the page prints. */
export const FLOOR = 1e-4;
const RANGE = /** @type {[number, number]} */ ([0, 1]);

/**
 * @param {Pick<import("../figure/types.js").Context, "theme">} context
 * @param {Pick<import("../store/store.js").Page, "link">} page
 * @param {boolean} [groups]  whether cells are sentences or paragraphs
 * @returns {import("./paint.js").Shade}
 */
export const shadeOf = ({ theme }, { link }, groups = false) => ({ stops: (groups ? shares : sequential)(theme()), range: RANGE, floor: link.options.scale === "log" ? FLOOR : undefined });
