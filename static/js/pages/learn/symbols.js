/** Highlight a symbol of a formula together with the part of a figure that it names. */

const LIT = "data-lit-symbol";

/** @param {HTMLElement} root */
export function bindSymbols(root) {
  /** @param {string} part */
  function light(part) {
    root.querySelectorAll(`[${LIT}]`).forEach((one) => one.removeAttribute(LIT));
    if (!part) return;
    const name = CSS.escape(part);
    for (const one of root.querySelectorAll(`[data-part="${name}"], .lab-figure [data-of="${name}"], .panel.${name}`)) one.setAttribute(LIT, "");
  }
  root.addEventListener("pointerover", ({ target }) => light(partOf(target)));
  root.addEventListener("focusin", ({ target }) => light(partOf(target)));
  root.addEventListener("pointerleave", () => light(""));
}

/** @param {EventTarget | null} target */
function partOf(target) {
  if (!(target instanceof Element)) return "";
  const place = target.closest("[data-part], [data-of], .panel:is(.q, .k, .v)");
  return place?.getAttribute("data-part") ?? place?.getAttribute("data-of") ?? ["q", "k", "v"].find((name) => place?.classList.contains(name)) ?? "";
}
