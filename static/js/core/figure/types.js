/** Types of what views and parts receive, and of what a view returns. */

/** @import { Page } from "../store/store.js" */
/** @import { State } from "../store/link.js" */
/**
 * @typedef {object} PageContext  shared by all figures of a page
 * @property {import("../draw/plotly.js").Plotter | null} plotter  null if Plotly is not available
 * @property {import("../../lib/i18n.js").Translate} t
 * @property {import("../../lib/i18n.js").Phrase} phrase
 * @property {(text: string) => void} announce  to a screen reader
 * @property {() => import("../page/page-context.js").Theme} theme
 * @property {(listener: () => void) => () => void} onTheme  called after colours or sizes have
 *   changed; returns a function that unsubscribes
 */
/** @typedef {{width: number, height: number, wide: boolean}} Room */
/** @typedef {(element: HTMLElement) => Room} Measure */
/** @typedef {{line: HTMLElement, inner: HTMLElement | ""}} Finding  inner: the line, where it is to stand in the view itself */
/**
 * @typedef {object} Context  what parts and views of a figure may use
 * @property {import("../store/store.js").Store} store
 * @property {import("../store/data-sources.js").Source} source
 * @property {PageContext["plotter"]} plotter
 * @property {PageContext["t"]} t
 * @property {PageContext["phrase"]} phrase
 * @property {PageContext["announce"]} announce
 * @property {PageContext["theme"]} theme
 * @property {() => Room} room
 * @property {() => Finding} finding  where a view puts its own summary sentence; called once, when
 *   it is mounted
 * @property {(view: string) => boolean} offers  whether the figure can open a view
 * @property {(word: string) => string} uniqueId  an id, or a name for radio buttons, that is unique to
 *   this figure
 * @property {import("./figure-frame.js").Keys} keys  the keys of this figure
 */
/**
 * @typedef {object} View
 * @property {string} id  in the address bar
 * @property {(t: import("../../lib/i18n.js").Translate) => string} name
 * @property {(t: import("../../lib/i18n.js").Translate) => string} about  one paragraph on how to read
 *   it
 * @property {string[]} [capabilities]  that a model must have; absent: none
 * @property {(block: import("../wire/model-description.js").Block) => boolean} [blocks]  whether it
 *   applies to an attention; absent: to all
 * @property {boolean} [long]  whether it shows long texts (core/wire/long-texts.js) as well
 * @property {Frame} frame
 * @property {boolean} [live]  whether it needs a server
 * @property {import("../store/link-options.js").Options} [options]  its options
 * @property {(page: Page) => string[]} needs  addresses of what it shows of the current run
 * @property {(page: Page) => import("../store/view-requests.js").Question[]} [asks]  everything else that
 *   it shows
 * @property {(page: Page) => import("../store/view-requests.js").Kept[]} [keeps]  the part of it that
 *   a share contains; absent: all of it
 * @property {(page: Page) => Subject | null} [subject]  absent: the page's own run
 * @property {(page: Page) => ModelPart[]} [lights]  what it shows besides the attention of the link
 * @property {(page: Page, previous: Page) => State} [settle]  adjusts the link after a change
 * @property {(context: Context, root: HTMLElement) => Mounted} mount
 */
/**
 * @typedef {object} ModelPart  a part of the model's map
 * @property {"embedding" | "output" | "residual" | "attention" | "sum" | "network" | "network-sum"}
 *   part  a sum is where a sublayer's output is added to the residual stream, with the norm
 * @property {string} [stack]  absent: the part belongs to no single stack
 * @property {number} [layer]  of the stack; absent: all
 * @property {string} [block]  of an attention; `layer` then counts within the block
 */
/**
 * @typedef {object} Subject  what a view shows instead of the page's own run
 * @property {string} source
 * @property {import("../wire/safetensors.js").Trace} trace
 * @property {(t: import("../../lib/i18n.js").Translate) => string} says  describes the run
 * @property {string} name  the same for a file name
 * @property {string} path  where the API has its numbers
 */
/** @typedef {"attention" | "signed" | "none"} Scale  of colours */
/**
 * @typedef {object} Frame  what surrounds a view
 * @property {"both" | "layer" | "none"} rail  pickers
 * @property {boolean} inspector
 * @property {boolean} caption
 * @property {Scale | ((page: Page) => Scale)} legend
 * @property {boolean} [tells]  whether it announces pins to screen readers itself; absent: the
 *   weight of the pinned cell is announced
 * @property {number} [twice]  its smallest width in pixels: if there is room for two, both runs of
 *   a changed model are shown side by side; absent: one at a time
 * @property {boolean} [compares]  whether it shows both runs of a changed model itself
 * @property {boolean} [folds]  whether its options are hidden behind a button; absent: they are
 *   above it
 */
/**
 * @typedef {object} Mounted
 * @property {() => void} draw  draw the store's contents in the available space
 * @property {() => void} light  highlight what is hovered or pinned
 * @property {() => void} destroy
 * @property {() => Picture | null} [picture]  of what is drawn; null if nothing is
 * @property {() => import("../compute/computed-tensors.js").ComputedTensors | null} [numbers]  the numbers of
 *   what is drawn; absent: the tensors that it needs
 * @property {() => object[]} [tiles]  the windows of a long text that a share of it contains, as the
 *   API takes them
 */
/** @typedef {(page: Page) => View[]} Offer  the views that are offered */
/** @typedef {{svg: string}} Picture  a vector drawing; pixels and paper are made from it */

export {};
