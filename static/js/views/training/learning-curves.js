/** The loss and BLEU of every snapshot as a zoomable Plotly chart, in place of the small chart. */

import { h } from "../../lib/dom.js";
import { scores } from "./training-history.js";
import { figure } from "./plotly-curves.js";
import { createPlot } from "../../core/draw/plotly.js";
import { words } from "../../core/figure/zoom.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Snapshot } from "./training-history.js" */

const CURVES_HEIGHT = 340;
const DASHES = ["solid", "dash"];

/**
 * @param {Context} context
 * @param {{go: (place: number) => void, name: (direction: string) => string, onTurn: () => void}}
 *   actions onTurn: called after it was opened or closed
 */
export function createLearningCurves({ plotter, theme, t }, { go, name, onTurn }) {
  const opener = h("button", { type: "button", className: "button quiet", hidden: !plotter, "aria-expanded": "false" });
  const problem = h("p", { className: "note", role: "alert", hidden: true }, t("The curves did not load. Try again."));
  const plot = h("div", { className: "plot", hidden: true });
  const chart = plotter && createPlot(plot, plotter, { plotly_click: ({ points: [{ pointIndex }] }) => go(pointIndex) });
  let asked = false;
  /** @type {{snapshots: Snapshot[], place: number, width: number} | null} */
  let now = null;

  async function draw() {
    if (!chart || !now) return;
    opener.setAttribute("aria-busy", "true");
    try {
      if (!(await chart.show(figure(curves(now), { width: now.width, height: CURVES_HEIGHT }, theme(), words(t))))) return;
      turn(true);
    } catch {
      asked = false; // the small chart and the button stay
      problem.hidden = false;
    } finally {
      opener.removeAttribute("aria-busy");
    }
  }

  /** @param {boolean} on */
  function turn(on) {
    problem.hidden = true;
    if (plot.hidden === !on) return;
    plot.hidden = !on;
    opener.setAttribute("aria-expanded", String(on));
    onTurn();
  }

  /** @param {NonNullable<typeof now>} shown @returns {import("./plotly-curves.js").Curves} */
  function curves({ snapshots, place }) {
    const look = theme();
    const measured = scores(snapshots);
    const tasks = measured[0].direction === null;
    const good = measured.map(({ direction, values }, i) => ({
      name: direction === null ? t("right, %") : `BLEU ${name(direction)}`,
      values,
      color: look.q,
      dash: DASHES[i % DASHES.length],
    }));
    const loss = { name: tasks ? t("Held-out loss") : t("Dev loss"), values: snapshots.map((one) => one.loss ?? NaN), color: look.k, right: true };
    return {
      steps: snapshots.map(({ step }) => step),
      curves: [...good, loss],
      at: place,
      titles: {
        x: t("training step"),
        left: tasks ? t("right, %") : "BLEU",
        right: tasks ? t("Held-out loss (nats per token)") : t("Dev loss (nats per token)"),
      },
    };
  }

  function close() {
    asked = false;
    turn(false);
    chart?.clear();
  }

  opener.addEventListener("click", () => {
    asked = !asked;
    if (asked) void draw();
    else close();
  });

  return {
    elements: [opener, problem, plot],
    open: () => !plot.hidden,

    /** @param {Snapshot[]} snapshots @param {number} place @param {number} width  in pixels */
    show(snapshots, place, width) {
      now = { snapshots, place, width };
      opener.textContent = scores(snapshots)[0].direction === null ? t("Loss and accuracy curves") : t("Loss and BLEU curves");
      if (asked) void draw();
    },
    destroy: close,
  };
}
