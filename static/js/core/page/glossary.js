/**
 * Glossary tooltips: an element with `data-term` shows its explanation when the pointer rests on
 * it, or on a tap. The help lists all terms.
 */

import { el, find, h, render } from "../../lib/dom.js";

/** @import { PageServices } from "../../workspace/main-figure.js" */

// The glossary: one source for the page and the docs.

/** @typedef {{term: string, says: string}} Entry */
/** @typedef {Record<string, Record<string, Entry>>} Glossary  by term, by language */

/**
 * @param {Glossary} glossary
 * @param {string} term
 * @param {string} lang  English if there is no entry in this language
 * @returns {Entry | null}
 */
function entryOf(glossary, term, lang) {
  const entries = Object.hasOwn(glossary, term) ? glossary[term] : null;
  return entries && (entries[lang] ?? entries.en);
}

/** Milliseconds until a tooltip appears, and until it disappears after the pointer has left. */
const HOVER_DELAY = 400;
const STAY = 250;
const TERM = "[data-term]";

/** @param {PageServices} services */
export function bindGlossary({ api, store }) {
  const { glossary: url = "" } = find("#workspace").dataset;
  const lang = store.get().link.lang;
  const glossary = explainTerms(find("#workspace"), () => api.glossary(url), lang);
  find("#help").addEventListener("click", async () => list(await glossary(), lang));
}

/**
 * Explain all elements with `data-term`.
 * @param {HTMLElement} root  the container of the text
 * @param {() => Promise<Glossary>} load
 * @param {string} lang
 * @returns {() => Promise<Glossary>}  the glossary, loaded once
 */
export function explainTerms(root, load, lang) {
  const box = h("div", { id: "explained", className: "explained", role: "tooltip", hidden: true });
  root.append(box);
  /** @type {Promise<Glossary> | null} */
  let loading = null;
  /** @type {Element | null} */
  let explained = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const glossary = () => (loading ??= load());

  /** @param {Element} place */
  async function explain(place) {
    const entry = entryOf(await glossary(), place.getAttribute("data-term") ?? "", lang);
    if (!entry || !place.isConnected) return;
    explained?.removeAttribute("aria-describedby");
    explained = place;
    render(box, el("b", {}, entry.term), " ", entry.says);
    box.hidden = false;
    place.setAttribute("aria-describedby", box.id);
    put(box, place);
  }

  function hide() {
    clearTimeout(timer);
    box.hidden = true;
    explained?.removeAttribute("aria-describedby");
    explained = null;
  }

  document.addEventListener("pointerover", ({ target, pointerType }) => {
    if (pointerType !== "mouse" || !(target instanceof Element)) return;
    clearTimeout(timer);
    const place = target.closest(TERM);
    if (place && place !== explained) timer = setTimeout(explain, HOVER_DELAY, place);
    // The tooltip stays while the pointer is on it.
    else if (!place && explained && !box.contains(target)) timer = setTimeout(hide, STAY);
  });
  document.addEventListener("click", (event) => {
    const place = event.target instanceof Element ? event.target.closest(TERM) : null;
    const tapped = event.pointerType === "touch" || place?.matches("button");
    if (place && tapped && place !== explained) void explain(place);
    else if (explained && !box.contains(/** @type {Node} */ (event.target))) hide();
  });
  document.addEventListener("scroll", () => explained && hide(), { capture: true, passive: true });
  const escape = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !explained) return;
    event.stopPropagation();
    hide();
  };
  document.addEventListener("keydown", escape, { capture: true });
  return glossary;
}

/**
 * Place the tooltip below its term, or above if there is no room, within the window.
 * @param {HTMLElement} box
 * @param {Element} place
 */
function put(box, place) {
  const termBox = place.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const left = Math.max(8, Math.min(termBox.left, window.innerWidth - width - 8));
  const below = termBox.bottom + 6;
  const top = below + height > window.innerHeight - 8 ? Math.max(8, termBox.top - height - 6) : below;
  box.style.setProperty("left", `${left}px`);
  box.style.setProperty("top", `${top}px`);
}

/** The whole glossary, for the help. @param {Glossary} glossary @param {string} lang */
function list(glossary, lang) {
  const entries = Object.keys(glossary).map((term) => entryOf(glossary, term, lang));
  render(
    find("#help-words"),
    entries.map((entry) => entry && el("div", {}, el("dt", {}, entry.term), el("dd", {}, entry.says))),
  );
}
