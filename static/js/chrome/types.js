/** Types of what the elements around a figure receive: the figure, and what belongs to the page. */

/**
 * @typedef {object} Office
 * @property {import("../views/create-figure.js").Figure} figure  the page's figure
 * @property {import("../data/api.js").Api} api
 * @property {import("../state/types.js").PageContext["onTheme"]} onTheme
 * @property {() => void} restyle  to be called after the page's colours or sizes have changed
 * @property {(link: import("../state/link.js").State) => string} format  a link as a query string
 */
/** @typedef {import("../state/types.js").Context & Office} Desk */

export {};
