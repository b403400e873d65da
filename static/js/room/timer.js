/** The timer of a question: how much time is left, by the server's clock. The vote goes on after it. */

import { h } from "../lib/dom.js";
import { el } from "../lib/render.js";

/** @import { Translate } from "../lib/i18n.js" */

/** Seconds that a teacher can choose. */
const CHOICES = [30, 60, 120, 180, 300];

/** Minutes and seconds, rounded up: a timer of a minute begins with 1:00. @param {number} seconds */
export function clockTime(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t" | "announce">} page
 * @param {() => number} now  the server's time in seconds
 */
export function createTimer({ t, announce }, now) {
  const element = h("p", { className: "timer", role: "timer", hidden: true });
  /** @type {number | null} */
  let ends = null;
  let interval = 0;

  function draw() {
    element.hidden = ends === null;
    if (ends === null) return stop();
    const secondsLeft = ends - now();
    element.textContent = secondsLeft > 0 ? clockTime(secondsLeft) : t("Time is up.");
    element.classList.toggle("over", secondsLeft <= 0);
    if (secondsLeft > 0) return;
    if (interval) announce(t("Time is up."));
    stop();
  }

  function stop() {
    clearInterval(interval);
    interval = 0;
  }

  return {
    element,
    /** @param {number | null | undefined} end  by the server's clock; none: no timer */
    show(end) {
      if ((end ?? null) === ends) return;
      ends = end ?? null;
      stop();
      if (ends !== null && ends > now()) interval = window.setInterval(draw, 250);
      draw();
    },
  };
}

/** Where the teacher sets the timer. @param {Translate} t @param {boolean} runs @param {(seconds: number) => void} set */
export function timerMenu(t, runs, set) {
  const onchange = (/** @type {any} */ { target }) => (set(Number(target.value)), (target.value = ""));
  const options = CHOICES.map((seconds) => el("option", { key: seconds, value: String(seconds) }, clockTime(seconds)));
  return el("label", { key: "timer", className: "timer-menu" }, el("span", {}, t("Timer")), el("select", { onchange }, el("option", { value: "" }, "–"), runs && el("option", { key: "none", value: "0" }, t("no timer")), options));
}
