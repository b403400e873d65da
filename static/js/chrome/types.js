/** What stands around a figure is given: the figure, and what is the page's alone. Types alone. */

/**
 * @typedef {object} Office
 * @property {import("../views/create-figure.js").Figure} figure  that the page is about
 * @property {import("../data/api.js").Api} api
 * @property {import("../state/types.js").PageContext["onTheme"]} onTheme
 * @property {() => void} restyle  after the page's colours or sizes have changed
 * @property {(link: import("../state/link.js").State) => string} format  a link as a query string
 */
/** @typedef {import("../state/types.js").Context & Office} Desk */

export {};
