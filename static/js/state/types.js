/** What views and parts are given to work with, and what a view gives in return: types alone. */

/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("./link.js").State} State */
/**
 * @typedef {object} PageContext  what all figures of a page share
 * @property {import("../draw/plotly.js").Plotter | null} plotter  null where Plotly is not to be had
 * @property {import("../lib/i18n.js").Translate} t
 * @property {import("../lib/i18n.js").Say} say
 * @property {(text: string) => void} announce  to a screen reader
 * @property {() => import("../draw/theme.js").Theme} theme
 * @property {(listener: () => void) => () => void} onTheme  after colours or sizes have changed; what
 *   it gives back stops it
 */
/** @typedef {{width: number, height: number, wide: boolean}} Room */
/** @typedef {(element: HTMLElement) => Room} Measure */
/** @typedef {{line: HTMLElement, inner: HTMLElement | ""}} Finding  inner: the line, where it is to stand in the view itself */
/**
 * @typedef {object} Context  what a part and a view of a figure may use: nothing of it is the page's alone
 * @property {import("./store.js").Store} store
 * @property {import("./data-sources.js").Source} source
 * @property {PageContext["plotter"]} plotter
 * @property {PageContext["t"]} t
 * @property {PageContext["say"]} say
 * @property {PageContext["announce"]} announce
 * @property {PageContext["theme"]} theme
 * @property {() => Room} room
 * @property {() => Finding} finding  where a view says what is seen, in a sentence of its own; asked once, when it is mounted
 * @property {(word: string) => string} own  an id, or a name of radio buttons, that no other figure has
 * @property {import("../parts/figure-keys.js").Keys} keys  those that are meant for this figure
 */
/**
 * @typedef {object} View
 * @property {string} id  in the address bar
 * @property {(t: import("../lib/i18n.js").Translate) => string} name
 * @property {(t: import("../lib/i18n.js").Translate) => string} about  how to read it, in a paragraph
 * @property {string[]} [capabilities]  that a model has to have, as it names them; absent: none
 * @property {(block: import("../data/attentions.js").Block) => boolean} [blocks]  attentions that it is
 *   for; absent: all
 * @property {Frame} frame
 * @property {boolean} [live]  whether it is nothing without a server to ask
 * @property {import("./options.js").Options} [options]  what it lets one choose
 * @property {(page: Page) => string[]} needs  addresses of what it shows of the present run
 * @property {(page: Page) => import("./view-requests.js").Question[]} [asks]  all else that it shows
 * @property {(page: Page) => import("./view-requests.js").Question[]} [keeps]  what of that a share
 *   holds; absent: what it asks
 * @property {(page: Page) => Subject | null} [subject]  absent: the page's own run
 * @property {(page: Page) => ModelPart[]} [lights]  what it shows besides the attention that the link names
 * @property {(page: Page, previous: Page) => State} [settle]  what follows for its link from a change
 * @property {(context: Context, root: HTMLElement) => Mounted} mount
 */
/**
 * @typedef {object} ModelPart  a part of the map of the model
 * @property {"embedding" | "output" | "residual" | "attention" | "sum" | "network" | "network-sum"} part  a sum
 *   is where a sublayer adds to the residual stream, with its norm
 * @property {string} [stack]  absent: the part is not of one stack
 * @property {number} [layer]  of the stack; absent: all
 * @property {string} [block]  of an attention, whose layer then counts those of the block
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
 * @property {boolean} [tells]  whether it tells a screen reader by itself what is pinned; absent: the
 *   weight of the pinned cell is told
 * @property {number} [twice]  pixels that it is wide at least: where there is room, a changed model stands
 *   beside itself as trained; absent: one at a time
 * @property {boolean} [compares]  whether it shows both runs of a changed model by itself
 * @property {boolean} [folds]  whether its options are behind a button; absent: they stand above it
 */
/**
 * @typedef {object} Mounted
 * @property {() => void} draw  what the store holds, in the room there is
 * @property {() => void} light  what is hovered or pinned
 * @property {() => void} destroy
 * @property {() => Picture | null} [picture]  of what is drawn; null where nothing is
 * @property {() => import("../data/computed-tensors.js").Shown | null} [numbers]  of what is drawn; absent: they are the
 *   tensors that it needs
 */
/** @typedef {(page: Page) => View[]} Offer  the views that are offered */
/** @typedef {{svg: string}} Picture  a vector drawing; pixels and paper are made from it */

export {};
