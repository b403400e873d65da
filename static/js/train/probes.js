/** The fixed inputs: which one the figure shows, and the model's answer to each at this step. */

import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";

/** @import { LiveRun } from "./live-run.js" */

/** @param {import("../workspace/types.js").Desk} desk @param {import("./shown.js").Shown} shown */
export function bindProbes({ t }, shown) {
  const list = find("#probes");
  list.addEventListener("change", ({ target }) => shown.look(Number(/** @type {HTMLInputElement} */ (target).value)));
  return {
    /** @param {LiveRun} run */
    show(run) {
      const at = run.snapshots[shown.place()];
      list.hidden = !at;
      if (!at) return;
      render(
        list,
        el("legend", {}, t("Held-out inputs, and what the model answers at this step")),
        run.probes.map(({ source, target }, i) => {
          const written = at.written[i].trim();
          const right = written === target.trim();
          return el(
            "label",
            { key: String(i) },
            el("input", { type: "radio", name: "probe", value: String(i), checked: i === shown.probe() }),
            el("span", { className: "asked" }, source),
            el("span", { className: right ? "answer right" : "answer" }, marked(written, target), el("span", { className: "verdict" }, right ? " ✓" : "")),
          );
        }),
      );
    },
  };

  /**
   * The answer word by word, with wrong words marked.
   * @param {string} written
   * @param {string} target
   */
  function marked(written, target) {
    if (!written) return [el("i", {}, t("nothing"))];
    const apart = target.includes(" ") ? " " : "";
    const wanted = target.split(apart);
    return printable(written)
      .split(apart)
      .flatMap((word, i) => [i && apart ? apart : "", word === wanted[i] ? word : el("mark", { key: String(i) }, word)]);
  }
}

/** An untrained model may write control characters. @param {string} text */
const printable = (text) => text.replace(/\p{Cc}|\p{Cf}|\uFFFD/gu, "·");
