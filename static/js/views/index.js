/** The map of the views. A view is a file of its own and a line here. */

import { attention } from "./heatmap.js";
import { positions } from "./positions.js";
import { qkv } from "./qkv.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../store.js").Page} Page */
/**
 * @typedef {object} View
 * @property {string} id  in the address bar
 * @property {(t: import("../i18n.js").Translate) => string} name
 * @property {(page: Page) => string[]} needs  tensors that it shows beside weights and masks
 * @property {(context: Context, root: HTMLElement) => Mounted} mount
 */
/**
 * @typedef {object} Mounted
 * @property {() => void} draw  what the store holds, in the room there is
 * @property {() => void} light  what is hovered or pinned
 * @property {() => void} destroy
 */

/** @type {View[]} */
export const VIEWS = [attention, qkv, positions];

/**
 * @param {string} id
 * @returns {View}  the first where there is none of that name
 */
export function view(id) {
  return VIEWS.find((view) => view.id === id) ?? VIEWS[0];
}
