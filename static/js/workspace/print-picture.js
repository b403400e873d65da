/**
 * A picture as a PDF. The browser prints it on a single page of its size, with the page's fonts, so
 * that it stays vector graphics and Chinese stays text. No data is sent anywhere.
 */

import { h } from "../lib/dom.js";

/**
 * @param {{svg: string, width: number, height: number}} picture
 * @param {string} name  the file name, which browsers take from the title
 */
export function printPicture({ svg, width, height }, name) {
  const root = document.documentElement;
  const paper = h("div", { className: "paper", "aria-hidden": "true" });
  paper.append(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement);
  const size = new CSSStyleSheet();
  size.replaceSync(`@page { size: ${width}px ${height}px; margin: 0; }`);
  const { title, adoptedStyleSheets: before } = document;

  document.body.append(paper);
  document.adoptedStyleSheets = [...before, size];
  document.title = name.replace(/\.pdf$/, "");
  root.classList.add("prints-picture");
  window.addEventListener("afterprint", restore, { once: true });
  window.print();

  function restore() {
    root.classList.remove("prints-picture");
    document.title = title;
    document.adoptedStyleSheets = before;
    paper.remove();
  }
}
