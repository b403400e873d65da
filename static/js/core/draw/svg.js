/**
 * Drawing with SVG. Colours are presentation attributes from the theme, so that an exported picture
 * looks as it does on the page.
 */

/** @import { Theme } from "../page/page-context.js" */

const NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number | null | undefined>} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== undefined) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * An SVG element of the given size, with the page's font.
 * @param {number} width
 * @param {number} height
 * @param {Theme} theme
 * @param {...Node} children
 */
export function drawing(width, height, theme, ...children) {
  return s(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-family": theme.font,
      "font-size": theme.size,
      fill: theme.ink,
    },
    ...children,
  );
}

/**
 * @param {SVGSVGElement} svg  with a viewBox; its contents are scaled
 * @param {number} by
 */
export function enlarge(svg, by) {
  const { width, height } = svg.viewBox.baseVal;
  svg.setAttribute("width", String(Math.ceil(width * by)));
  svg.setAttribute("height", String(Math.ceil(height * by)));
  return svg;
}

/**
 * A smooth curve between two points that starts and ends parallel to the given axis.
 * @param {[number, number]} from
 * @param {[number, number]} to
 * @param {"x" | "y"} along
 */
export function curve([x1, y1], [x2, y2], along) {
  const [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2];
  const [a, b] = along === "x" ? [[mx, y1], [mx, y2]] : [[x1, my], [x2, my]];
  return `M${fine(x1)} ${fine(y1)}C${a.map(fine).join(" ")} ${b.map(fine).join(" ")} ${fine(x2)} ${fine(y2)}`;
}

/** @param {number} value  Tenths of a pixel are enough. */
export const fine = (value) => Math.round(value * 10) / 10;

/**
 * A drawing as an SVG file, with a background and without anything that only the page needs.
 * @param {SVGSVGElement} drawn
 * @param {Theme} theme
 * @returns {string}
 */
export function file(drawn, theme) {
  const copy = /** @type {SVGSVGElement} */ (drawn.cloneNode(true));
  copy.setAttribute("xmlns", NAMESPACE);
  copy.prepend(s("rect", { width: "100%", height: "100%", fill: theme.paper }));
  for (const element of [copy, ...copy.querySelectorAll("*")])
    for (const name of ["tabindex", "role", "class", "aria-label", "aria-hidden"])
      element.removeAttribute(name);
  return new XMLSerializer().serializeToString(copy);
}
