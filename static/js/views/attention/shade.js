/** The colours of weights: linear, or logarithmic from the least that the page prints. */

import { sequential, shares } from "../../draw/scale.js";

/** Where a logarithmic scale begins: the least that the page prints. */
export const FLOOR = 1e-4;
const RANGE = /** @type {[number, number]} */ ([0, 1]);

/**
 * @param {Pick<import("../../state/types.js").Context, "theme">} context
 * @param {Pick<import("../../state/store.js").Page, "link">} page
 * @param {boolean} [groups]  whether cells are sentences or paragraphs
 * @returns {import("../../draw/paint.js").Shade}
 */
export const shadeOf = ({ theme }, { link }, groups = false) => ({ stops: (groups ? shares : sequential)(theme()), range: RANGE, floor: link.options.scale === "log" ? FLOOR : undefined });
