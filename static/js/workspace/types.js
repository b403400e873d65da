/** Types of what the elements around a figure receive: the figure, and what belongs to the page. */

/**
 * @typedef {object} Office
 * @property {import("../views/create-figure.js").Figure} figure  the page's figure
 * @property {import("../core/wire/api.js").Api} api
 * @property {import("../core/figure/types.js").PageContext["onTheme"]} onTheme
 * @property {() => void} restyle  to be called after the page's colours or sizes have changed
 * @property {(link: import("../core/store/link.js").State) => string} format  a link as a query string
 */
/** @typedef {import("../core/figure/types.js").Context & Office} Desk */

export {};
