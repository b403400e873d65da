/** The map of the views. A view is a file of its own and a line here. */

import { alignment } from "./alignment/view.js";
import { flow } from "./flow/view.js";
import { attention } from "./attention/view.js";
import { compare } from "./compare/view.js";
import { decoding } from "./decoding/view.js";
import { heads } from "./heads/view.js";
import { inside } from "./inside/view.js";
import { lines } from "./lines/view.js";
import { positions } from "./positions/view.js";
import { qkv } from "./qkv/view.js";
import { space } from "./space/view.js";
import { training } from "./training/view.js";
import { whatif } from "./whatif/view.js";
import { worksheet } from "./worksheet/view.js";
import { PAGE } from "../state/options.js";

/** @typedef {import("../pages/workspace.js").Context} Context */
/** @typedef {import("../state/store.js").Page} Page */
/** @typedef {import("../state/link.js").State} State */
/**
 * @typedef {object} View
 * @property {string} id  in the address bar
 * @property {(t: import("../lib/i18n.js").Translate) => string} name
 * @property {(t: import("../lib/i18n.js").Translate) => string} about  how to read it, in a paragraph
 * @property {State["block"][]} [blocks]  kinds of attention that it is for; absent: all
 * @property {Frame} frame
 * @property {boolean} [live]  whether it is nothing without a server to ask
 * @property {import("../state/options.js").Options} [options]  what it lets one choose
 * @property {(page: Page) => string[]} needs  tensors of the present trace that it shows
 * @property {(page: Page) => import("../state/questions.js").Question[]} [asks]  all else that it shows
 * @property {(page: Page) => Subject | null} [subject]  absent: the page's own run
 * @property {(context: Context, root: HTMLElement) => Mounted} mount
 */
/**
 * @typedef {object} Subject  what a view shows in place of the page's own run
 * @property {string} source
 * @property {import("../data/wire.js").Trace} trace
 * @property {(t: import("../lib/i18n.js").Translate) => string} says  which run of it
 * @property {string} name  the same in a file's name
 * @property {string} path  where the API has its numbers
 */
/**
 * @typedef {object} Frame  what stands around a view
 * @property {"both" | "layer" | "none"} rail  pickers
 * @property {boolean} inspector
 * @property {boolean} caption
 * @property {"attention" | "signed" | "none"} legend
 */
/**
 * @typedef {object} Mounted
 * @property {() => void} draw  what the store holds, in the room there is
 * @property {() => void} light  what is hovered or pinned
 * @property {() => void} destroy
 * @property {() => {svg: string} | {canvas: HTMLCanvasElement}} [picture]  of what is drawn
 */

/** @type {View[]} */
export const VIEWS = [
  decoding,
  heads,
  attention,
  lines,
  worksheet,
  alignment,
  compare,
  inside,
  qkv,
  space,
  positions,
  flow,
  training,
  whatif,
];

/** All that a link may choose. */
export const OPTIONS = Object.freeze(Object.assign({}, PAGE, ...VIEWS.map((view) => view.options)));

/**
 * @param {string} id
 * @returns {View}  the first where there is none of that name
 */
export function view(id) {
  return VIEWS.find((view) => view.id === id) ?? attention;
}
