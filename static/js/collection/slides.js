/**
 * A collection as a lecture: one item on the screen at a time, with a presenter's remote, after a
 * title. The mode and the item are part of the link.
 */

import { createPresentingBar } from "../learn/presenting-bar.js";
import { createSpeaker } from "../learn/speaker.js";
import { h } from "../lib/dom.js";
import { REMOTE, TURNS, alone } from "../core/figure/pointing.js";
import { readQuery, writeQuery } from "../core/store/address.js";

/** What needs the arrows for itself. */
const TAKES = "input, textarea, select, figure .view, .lab-figure, dialog";

/**
 * @param {import("../core/figure/types.js").PageContext & {restyle: () => void}} page
 * @param {import("./items.js").Item[]} items
 * @param {{title: string}} of
 */
export function bindSlides({ t, announce, restyle }, items, { title }) {
  const root = document.documentElement;
  const head = /** @type {HTMLElement | null} */ (document.querySelector(".collection-head"));
  const count = h("output", {});
  const speaker = createSpeaker({ t, scenes: () => scenes(items, title), turn: (by) => on() && go(at + by) });
  const bar = createPresentingBar(t, { turn: (by) => go(at + by), leave, notes: speaker.button, place: [count] });
  document.querySelector("#learn")?.append(bar);
  /** @type {Set<() => void>} */
  const listeners = new Set();
  /** The item on the screen, from 1; 0: the title. */
  let at = 0;
  const on = () => root.hasAttribute("data-projector");

  /** @param {number} to */
  function go(to) {
    at = Math.max(0, Math.min(to, items.length));
    items.forEach(({ element }, i) => element.toggleAttribute("data-current", i + 1 === at));
    head?.toggleAttribute("data-current", at === 0);
    count.textContent = `${at} / ${items.length}`;
    say();
    window.scrollTo(0, 0);
    const place = at ? items[at - 1].element.querySelector("h2") : head;
    /** @type {HTMLElement | null} */ (place)?.focus({ preventScroll: true });
    if (at) void items[at - 1].open();
    speaker.at(at);
    listeners.forEach((listener) => listener());
  }

  /** @param {number} [first] */
  function enter(first = 0) {
    root.toggleAttribute("data-projector", true);
    restyle();
    go(first);
    announce(t("Projector mode. Page Down goes to the next item, Escape leaves."));
  }

  function leave() {
    root.removeAttribute("data-projector");
    restyle();
    const last = at && items[at - 1].element;
    at = 0;
    say();
    if (last) last.scrollIntoView();
    announce(t("Left projector mode."));
    speaker.leave();
    document.querySelector("#projector") instanceof HTMLElement && /** @type {HTMLElement} */ (document.querySelector("#projector")).focus({ preventScroll: true });
  }

  /** Write the address. */
  function say() {
    const query = new URLSearchParams(readQuery(window));
    for (const [name, value] of [["projector", on() ? "1" : ""], ["item", on() && at ? String(at) : ""]]) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    writeQuery(window, String(query));
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const { key, target } = event;
    const place = target instanceof Element ? target : null;
    if (!items.length || !alone(event) || document.querySelector("#editor:not([hidden])")) return;
    if (key === "Escape" && on() && !event.defaultPrevented) return leave();
    if (key.toLowerCase() === "p" && !place?.closest("input, textarea, select")) return on() ? leave() : enter();
    if (!on() || !TURNS[key] || (!REMOTE[key] && place?.closest(TAKES))) return;
    event.preventDefault();
    go(at + TURNS[key]);
  }

  document.querySelector("#projector")?.addEventListener("click", () => enter());
  document.addEventListener("keydown", pressed);
  const said = new URLSearchParams(readQuery(window));
  if (items.length && said.get("projector") === "1") enter(Number(said.get("item")) || 0);
  return {
    on,
    at: () => at,
    go,
    enter,
    /** Call a listener when another item is on the screen. @param {() => void} listener */
    onTurn: (listener) => void listeners.add(listener),
  };
}

/**
 * What the speaker sees of the title and of each item.
 * @param {import("./items.js").Item[]} items
 * @param {string} title
 * @returns {import("../learn/speaker.js").Scene[]}
 */
function scenes(items, title) {
  const lines = (/** @type {ParentNode} */ of, /** @type {string} */ where) => [...of.querySelectorAll(where)].flatMap((one) => (one.textContent ?? "").split("\n")).map((line) => line.trim()).filter(Boolean);
  const opening = { title, says: "", notes: lines(document, ".collection-head .claim"), picture: "" };
  const others = items.map(({ element, picture }) => ({
    title: lines(element, "h2").join(" "),
    says: lines(element, "figcaption > span").join(" "),
    notes: lines(element, ".note"),
    picture,
  }));
  return [opening, ...others];
}
