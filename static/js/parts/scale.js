/** The colours of a figure: from 0 to 1, or around zero. */

import { h } from "../lib/dom.js";
import { diverging, gradient, sequential } from "../draw/scale.js";

/**
 * @param {Pick<import("../state/types.js").Context, "t" | "theme">} context
 * @param {HTMLElement} place  filled, and hidden where the view has no such scale
 * @param {import("../state/types.js").Frame["legend"]} kind
 */
export function showScale({ t, theme }, place, kind) {
  place.hidden = kind === "none";
  if (kind === "none") return;
  const ramp = h("span", { className: "ramp" });
  const signed = kind === "signed";
  ramp.style.backgroundImage = gradient((signed ? diverging : sequential)(theme()));
  const [low, high] = signed ? ["−", "+"] : ["0", "1"];
  const masked = signed ? [] : [h("span", { className: "hatched" }), h("span", {}, t("masked"))];
  place.replaceChildren(h("span", {}, low), ramp, h("span", {}, high), ...masked);
}
