/**
 * Predict, then reveal: a question about what a model does, the reader's guess, and the model's
 * answer, which is computed when it is requested.
 */

import { Problem } from "../../data/problem.js";
import { createAsker } from "../../data/retry.js";
import { h } from "../../lib/dom.js";
import { four, two } from "../../lib/numbers.js";
import { el, render } from "../../lib/render.js";
import { shareBar } from "../../draw/proportion-bar.js";
import { trouble } from "../../parts/problem-line.js";
import { judged } from "../../state/lab-exercise.js";
import { head, looks } from "./places.js";
import { ask } from "./question.js";
import { row } from "./row.js";
import { next, off } from "./runs.js";

/** @typedef {import("./question.js").Choice} Choice */
/** @typedef {import("./question.js").Revealed} Revealed */
/** @typedef {import("../../state/types.js").PageContext} PageContext */

/** @type {Record<string, import("./question.js").Kind>} */
export const KINDS = { looks, head, next, off, row };

/**
 * @typedef {object} Plan
 * @property {HTMLElement} root  the container to fill
 * @property {PageContext} page
 * @property {Parameters<typeof ask>[1]} ways  access to a model and to the lab
 * @property {import("./question.js").Question} question
 * @property {string} labelledby  id of the element with the question
 * @property {(right: boolean | null) => void} [onReveal]  null: revealed without a guess
 */

/** @param {Plan} plan */
export function createPrediction({ root, page, ways, question, labelledby, onReveal = () => {} }) {
  const { t } = page;
  const kind = KINDS[question.kind];
  const asked = ask(page, ways, question);
  const asker = createAsker();
  const failed = trouble(page, () => void again());
  const list = h("div", { className: `choices ${kind.entry}`, role: "group", "aria-labelledby": labelledby });
  const reveal = h("button", { type: "button", className: "button strong", onclick: () => void show(true) }, t("Reveal"));
  const skip = h("button", { type: "button", className: "button quiet", onclick: () => void show(false) }, t("Reveal without a guess"));
  const actions = h("p", { className: "actions" }, reveal, skip);
  const verdict = h("p", { className: "verdict", role: "status" });
  /** @type {Choice[]} */
  let choices = [];
  /** The chosen answer, or typed numbers by index. @type {Record<string, string>} */
  let guess = {};
  /** @type {Revealed | null} */
  let found = null;
  let wanted = false;
  let again = open;
  root.replaceChildren(failed.element, list, actions, verdict);

  async function open() {
    again = open;
    const answer = await asker.ask(() => kind.choices(asked), failed.show);
    if (answer === null) return;
    failed.show(answer instanceof Problem ? answer : null);
    if (!(answer instanceof Problem)) choices = answer;
    draw();
  }

  /** @param {boolean} guessed */
  async function show(guessed) {
    wanted = guessed;
    again = () => show(wanted);
    reveal.disabled = skip.disabled = true;
    const answer = await asker.ask(() => kind.reveal(asked), failed.show);
    if (answer === null) return;
    failed.show(answer instanceof Problem ? answer : null);
    if (!(answer instanceof Problem)) {
      found = answer;
      onReveal(guessed ? isRight(answer) : null);
    }
    draw();
  }

  /** @param {Revealed} answer */
  function isRight({ right, numbers }) {
    if (numbers) return numbers.every((value, i) => judged(guess[i] ?? "", value) === "right");
    return right.includes(Object.keys(guess)[0]);
  }

  function draw() {
    const draws = kind.entry === "choice" ? button : field;
    render(list, choices.map((choice, i) => draws(choice, i)));
    const ready = kind.entry === "choice" ? Object.keys(guess).length === 1 : choices.every((_, i) => (guess[i] ?? "").trim());
    actions.hidden = Boolean(found) || !choices.length;
    reveal.disabled = !ready;
    skip.disabled = false;
    render(verdict, found && said(found));
  }

  /** @param {Revealed} answer */
  function said(answer) {
    const sentence = el("span", {}, answer.says);
    if (!wanted) return [sentence];
    const right = isRight(answer);
    return [el("b", { className: right ? "right" : "wrong" }, right ? t("✓ You were right.") : t("✗ Not what you guessed.")), " ", sentence];
  }

  /** @param {Choice} choice */
  function button({ id, label }) {
    const mine = id in guess;
    const right = found?.right.includes(id);
    const share = found?.shares?.[id];
    const onclick = () => {
      guess = { [id]: "" };
      draw();
    };
    const bar = share === undefined ? [] : [shareBar(share), el("span", { className: "number" }, two(share))];
    const marks = found ? el("span", { className: "mark-of" }, [right && "✓", mine && t("your guess")].filter(Boolean).join(" ")) : "";
    return el(
      "button",
      { key: id, type: "button", className: "choose", "aria-pressed": String(mine), "data-right": found ? String(Boolean(right)) : undefined, disabled: Boolean(found), onclick },
      el("span", { className: "what" }, label),
      ...bar,
      marks,
    );
  }

  /** @param {Choice} choice @param {number} i */
  function field({ id, label }, i) {
    const value = found?.numbers?.[i];
    const right = value === undefined ? undefined : judged(guess[i] ?? "", value) === "right";
    const oninput = (/** @type {Event} */ { target }) => {
      guess = { ...guess, [i]: /** @type {HTMLInputElement} */ (target).value };
      draw();
    };
    const input = el("input", { type: "text", inputMode: "decimal", autocomplete: "off", value: guess[i] ?? "", readOnly: Boolean(found), oninput });
    const truth = value === undefined ? "" : el("span", { className: "truth" }, el("span", { "aria-hidden": "true" }, right ? "✓ " : "✗ "), four(value));
    return el("label", { key: id, className: "fill", "data-right": right === undefined ? undefined : String(right) }, el("span", { className: "what" }, label), input, truth);
  }

  void open();
  return { destroy: () => asker.stop() };
}
