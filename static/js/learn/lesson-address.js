/** Addresses in a lesson: of a figure in some state, and of the page that opens a figure. */

import { readFragment, readQuery } from "../core/store/address.js";

/** Pages with figures. @type {Record<string, string>} */
const PATHS = { workspace: "/", lab: "/lab", zoo: "/zoo", train: "/train" };

/**
 * The figure that the address is of, by its id, and what it has of it.
 * @param {Window} window
 */
export const linkedState = (window) => ({ id: readFragment(window), parameters: new URLSearchParams(readQuery(window)) });

/**
 * @param {string} lesson
 * @param {Record<string, string>} parameters  "": what the page has
 * @param {string} id  of the figure
 */
export const lessonAddress = (lesson, parameters, id) => pathOf(`/learn/${lesson}`, parameters, id);

/** The address that opens a figure. @param {string} page @param {string} query  its state */
export const openAddress = (page, query) => `${PATHS[page]}?${query}`;

/**
 * The path of a page with the state of one of its figures.
 * @param {string} path
 * @param {Record<string, string>} parameters  "": what the page has
 * @param {string} id  of the figure, or of the scene that it is in; "": none
 */
export function pathOf(path, parameters, id) {
  const query = String(new URLSearchParams(Object.entries(parameters).filter(([, value]) => value)));
  return path + (query && `?${query}`) + (id && `#${id}`);
}
