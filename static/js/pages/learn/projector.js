/**
 * A lesson in front of a class: large letters, and a presenter's remote that goes from one figure or
 * question to the next. The mode is part of the link.
 */

import { h } from "../../lib/dom.js";
import { REMOTE, TURNS, alone } from "../../parts/arrow-keys.js";
import { readQuery, writeQuery } from "../../state/address.js";

/** Where the remote stops. */
const STOPS = ".lesson > :is(h2, .predict, .live, .live + p, .predict + p)";
/** On the way back there is the beginning as well. */
const BACK = `.lesson > h1, ${STOPS}`;
/** What needs the arrows for itself. */
const TAKES = "input, textarea, select, figure, .predict";
/** Pixels above a stop, and by which the page may miss one. */
const GAP = 12;

/** @param {import("../../state/types.js").PageContext & {restyle: () => void}} page */
export function bindProjector({ t, announce, restyle }) {
  const root = document.documentElement;
  const button = document.querySelector("#projector");
  const bar = h(
    "div",
    { className: "presenting", role: "group", "aria-label": t("Projector") },
    h("button", { type: "button", className: "button", "aria-label": t("Previous"), onclick: () => turn(-1) }, "‹"),
    h("button", { type: "button", className: "button", "aria-label": t("Next"), onclick: () => turn(1) }, "›"),
    h("button", { type: "button", className: "button quiet", onclick: () => set(false) }, t("Leave (Esc)")),
  );
  document.querySelector("#learn")?.append(bar);
  const on = () => root.hasAttribute("data-projector");

  /** @param {boolean} wanted @param {boolean} [told] */
  function set(wanted, told = true) {
    if (on() === wanted) return;
    root.toggleAttribute("data-projector", wanted);
    restyle();
    const query = new URLSearchParams(readQuery(window));
    if (wanted) query.set("projector", "1");
    else query.delete("projector");
    writeQuery(window, String(query));
    if (told) announce(wanted ? t("Projector mode. Page Down goes to the next figure or question, Escape leaves.") : t("Left projector mode."));
  }

  /** To the next stop below the top of the window, or the last one above it. @param {number} by */
  function turn(by) {
    const tops = [...document.querySelectorAll(by > 0 ? STOPS : BACK)].map((one) => one.getBoundingClientRect().top - GAP);
    const top = by > 0 ? tops.find((at) => at > GAP) : tops.findLast((at) => at < -GAP);
    if (top !== undefined) window.scrollBy({ top, behavior: "instant" });
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const { key, target } = event;
    const place = target instanceof Element ? target : null;
    if (!alone(event)) return;
    if (key === "Escape" && on() && !event.defaultPrevented) return set(false);
    if (key.toLowerCase() === "p" && !place?.closest("input, textarea, select")) return set(!on());
    if (!on() || !TURNS[key] || (!REMOTE[key] && place?.closest(TAKES))) return;
    event.preventDefault();
    turn(TURNS[key]);
  }

  button?.addEventListener("click", () => set(true));
  document.addEventListener("keydown", pressed);
  if (new URLSearchParams(readQuery(window)).get("projector") === "1") set(true, false);
}
