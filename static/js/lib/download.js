/** Save a file on the reader's disk. */

import { h } from "./dom.js";

/** @param {Blob} file @param {string} name */
export function download(file, name) {
  const url = URL.createObjectURL(file);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
