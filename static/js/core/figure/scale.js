/** The colour scale of a figure: from 0 to 1, or around zero. */

import { el, render } from "../../lib/render.js";
import { diverging, gradient, sequential } from "../draw/scale.js";

/**
 * @param {Pick<import("./types.js").Context, "t" | "theme">} context
 * @param {HTMLElement} place  the container, hidden if the view has no such scale
 * @param {import("./types.js").Scale} kind
 */
export function showScale({ t, theme }, place, kind) {
  place.hidden = kind === "none";
  if (kind === "none") return;
  if (kind === "signed") return render(place, ramp(diverging(theme()), "−", "+"));
  render(place, ramp(sequential(theme()), "0", "1"), el("span", { className: "hatched" }), el("span", {}, t("masked")));
}

/**
 * A colour ramp between the labels of its ends.
 * @param {import("../draw/scale.js").Stops} stops
 * @param {string} low
 * @param {string} high
 */
export const ramp = (stops, low, high) => [
  el("span", {}, low),
  el("span", { className: "ramp", style: { "background-image": gradient(stops) } }),
  el("span", {}, high),
];
