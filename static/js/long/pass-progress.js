/** The progress of a long text's run, over the figure, with a button that stops it. */

import { fraction, secondsLeft } from "./pass-time.js";
import { find, h, write } from "../lib/dom.js";

/** @import { Progress } from "../core/wire/long-texts.js" */

/** A shorter run is not worth telling. */
const SECONDS = 1;

/** @param {import("../workspace/types.js").Desk} desk */
export function bindPassProgress({ store, t, announce, figure }) {
  const meter = h("progress", { max: 1, "aria-label": t("Progress") });
  const says = h("span", {});
  const stop = h("button", { type: "button", className: "button" }, t("Stop"));
  const element = find("#pass");
  element.append(h("div", { className: "pass-box" }, meter, says, stop));
  /** The first progress after waiting. @type {Progress | null} */
  let first = null;
  let told = "";

  // The sentence box, when it loses the focus, folds and would move the button away.
  stop.addEventListener("mousedown", (event) => event.preventDefault());
  stop.addEventListener("click", () => {
    figure.halt();
    find("#source").focus();
  });

  function show() {
    const { progress } = store.get();
    if (!progress || progress.phase === "queue") first = null;
    else first ??= progress;
    element.hidden = !progress || progress.seconds < SECONDS;
    if (!progress || element.hidden) return void (told = "");
    if (first) meter.value = fraction(first, progress);
    else meter.removeAttribute("value");
    write(says, [phase(progress), first && left(secondsLeft(first, progress))].filter(Boolean).join(" · "));
    if (progress.phase !== told) announce(phase(progress));
    told = progress.phase;
  }

  /** @param {Progress} progress */
  function phase({ phase, done, of }) {
    if (phase === "queue") return t("Waiting for other requests");
    if (!of) return t("Reading the text");
    if (phase === "pass") return t("Reading the text: {done} of {of} layers", { done, of });
    return t("Drawing the heads: {done} of {of} layers", { done, of });
  }

  /** @param {number} seconds */
  const left = (seconds) => (Number.isFinite(seconds) ? t("about {seconds} s left", { seconds: Math.max(1, Math.round(seconds)) }) : "");

  store.subscribe(({ progress }) => progress, show);
}
