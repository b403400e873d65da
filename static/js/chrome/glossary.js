/**
 * Terms of the field explain themselves: whatever has `data-term` says what it is when the pointer rests
 * on it or a finger taps it. The help has the whole list.
 */

import { entryOf } from "../data/glossary.js";
import { find, h } from "../lib/dom.js";
import { el, render } from "../lib/render.js";

/** @typedef {import("./types.js").Desk} Desk */
/** @typedef {import("../data/glossary.js").Glossary} Glossary */

/** Milliseconds that the pointer rests on a term before it is explained, and that the text stays after it has left. */
const REST = 400;
const STAY = 250;
const TERM = "[data-term]";

/** @param {Desk} desk */
export function bindGlossary({ api, store }) {
  const { glossary: url = "" } = find("#workspace").dataset;
  const lang = store.get().link.lang;
  const glossary = explainTerms(find("#workspace"), () => api.glossary(url), lang);
  find("#help").addEventListener("click", async () => list(await glossary(), lang));
}

/**
 * Explains whatever has `data-term` on the page.
 * @param {HTMLElement} root  that holds the text
 * @param {() => Promise<Glossary>} load
 * @param {string} lang
 * @returns {() => Promise<Glossary>}  loaded once
 */
export function explainTerms(root, load, lang) {
  const box = h("div", { id: "explained", className: "explained", role: "tooltip", hidden: true });
  root.append(box);
  /** @type {Promise<Glossary> | null} */
  let asked = null;
  /** @type {Element | null} */
  let shown = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const glossary = () => (asked ??= load());

  /** @param {Element} place */
  async function explain(place) {
    const entry = entryOf(await glossary(), place.getAttribute("data-term") ?? "", lang);
    if (!entry || !place.isConnected) return;
    shown?.removeAttribute("aria-describedby");
    shown = place;
    render(box, el("b", {}, entry.term), " ", entry.says);
    box.hidden = false;
    place.setAttribute("aria-describedby", box.id);
    put(box, place);
  }

  function hide() {
    clearTimeout(timer);
    box.hidden = true;
    shown?.removeAttribute("aria-describedby");
    shown = null;
  }

  document.addEventListener("pointerover", ({ target, pointerType }) => {
    if (pointerType !== "mouse" || !(target instanceof Element)) return;
    clearTimeout(timer);
    const place = target.closest(TERM);
    if (place && place !== shown) timer = setTimeout(explain, REST, place);
    // The text itself may be pointed at, to be read at leisure.
    else if (!place && shown && !box.contains(target)) timer = setTimeout(hide, STAY);
  });
  document.addEventListener("click", (event) => {
    const place = event.target instanceof Element ? event.target.closest(TERM) : null;
    const tapped = /** @type {PointerEvent} */ (event).pointerType === "touch" || place?.matches("button");
    if (place && tapped && place !== shown) void explain(place);
    else if (shown && !box.contains(/** @type {Node} */ (event.target))) hide();
  });
  document.addEventListener("scroll", () => shown && hide(), { capture: true, passive: true });
  const escape = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !shown) return;
    event.stopPropagation();
    hide();
  };
  document.addEventListener("keydown", escape, { capture: true });
  return glossary;
}

/** Below its term, or above where there is no room; within the window. @param {HTMLElement} box @param {Element} place */
function put(box, place) {
  const at = place.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const left = Math.max(8, Math.min(at.left, window.innerWidth - width - 8));
  const below = at.bottom + 6;
  const top = below + height > window.innerHeight - 8 ? Math.max(8, at.top - height - 6) : below;
  box.style.setProperty("left", `${left}px`);
  box.style.setProperty("top", `${top}px`);
}

/** The whole glossary, in the help. @param {Glossary} glossary @param {string} lang */
function list(glossary, lang) {
  const entries = Object.keys(glossary).map((term) => entryOf(glossary, term, lang));
  render(
    find("#help-words"),
    entries.map((entry) => entry && el("div", {}, el("dt", {}, entry.term), el("dd", {}, entry.says))),
  );
}
