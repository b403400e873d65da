/** The lab as a page that can be presented in a room. */

import { format, parse, preset } from "../lab/lab-link.js";
import { shownSteps } from "../lab/steps.js";
import { el, find, h, render } from "../lib/dom.js";
import { bindRoom } from "./room.js";

// What a class can be asked about attention by hand: a row of a step, or one of its numbers.

/** Steps that have no row of numbers to compute. */
const SKIPPED = new Set(["mask", "losses", "loss", "encoding"]);

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {import("../lab/figure/lab-figure.js").LabFigure} figure
 * @returns {(ask: (question: import("./room.js").Asks) => void) => HTMLElement | null}
 *   the form, with what is on the screen; null: nothing is
 */
function labForm({ t }, figure) {
  let [step, row, column] = ["weights", 0, ""];

  return (ask) => {
    const computed = figure.computed();
    if (!computed) return null;
    const steps = shownSteps(computed.lab, computed.answer, t).filter(({ id }) => !SKIPPED.has(id));
    const form = h("form", { className: "of-lab" });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const about = { link: format(computed.lab), page: /** @type {const} */ ("lab"), step, row };
      ask(column === "" ? { kind: "row", ...about } : { kind: "number", ...about, column: Number(column) });
    });

    function draw() {
      const chosen = steps.find(({ id }) => id === step) ?? steps[0];
      const { rows, cols } = chosen.tables[0];
      step = chosen.id;
      row = Math.min(row, rows.length - 1);
      if (column !== "" && Number(column) >= cols.length) column = "";
      const named = (/** @type {string[]} */ names) => names.map((name, i) => [String(i), name || String(i + 1)]);
      render(
        form,
        menu(t("Calculation step"), steps.map(({ id, name }) => [id, name]), step, (id) => (step = id)),
        menu(t("Row"), named(rows), String(row), (id) => (row = Number(id))),
        menu(t("Column"), [["", t("whole row")], ...named(cols)], column, (id) => (column = id)),
        el("button", { type: "submit", className: "button" }, column === "" ? t("Ask to fill in the row") : t("Ask for this number")),
      );
    }

    /** @param {string} name @param {string[][]} choices @param {string} value @param {(id: string) => void} choose */
    function menu(name, choices, value, choose) {
      const onchange = (/** @type {Event} */ { target }) => {
        choose(/** @type {HTMLSelectElement} */ (target).value);
        draw();
      };
      const options = choices.map(([id, label]) => el("option", { key: id, value: id }, label));
      return el("label", { key: name, className: "option menu" }, el("span", {}, name), el("select", { value, onchange }, options));
    }

    draw();
    return form;
  };
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("../lab/figure/lab-figure.js").LabFigure} figure
 */
export function bindLabRoom(page, api, figure) {
  /** @type {Set<() => void>} */
  const listeners = new Set();
  const form = labForm(page, figure);
  let showing = false;
  bindRoom(
    page,
    api,
    {
      link: () => `/lab?${format(figure.lab())}`,
      show(link) {
        const { pathname, search } = new URL(link, window.location.origin);
        if (pathname !== "/lab") return false;
        if (link === `/lab?${format(figure.lab())}`) return true;
        showing = true;
        figure.go(parse(search, preset("identity")));
        showing = false;
        return true;
      },
      onChange: (listener) => void listeners.add(listener),
      askable: () => ({ questions: [], form }),
      pointer: figure.pointing.at,
      point: figure.pointing.show,
      onPoint: figure.pointing.listen,
      says: (link) => (link.startsWith("/lab") ? page.t("Attention by hand") : page.t("another page")),
    },
    find("#lab"),
  );
  /** To be called with each state. */
  return () => !showing && listeners.forEach((listener) => listener());
}
