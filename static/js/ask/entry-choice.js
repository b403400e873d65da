/** An answer by choosing one of several. */

import { shareBar } from "../core/draw/proportion-bar.js";
import { two } from "../lib/numbers.js";
import { el } from "../lib/render.js";

/** @import { Shown } from "./entries.js" */

/** @type {import("./entries.js").Entry} */
export const choiceEntry = {
  complete: (answer) => answer.length === 1,
  right: ([id], { right = [] }) => right.includes(id),
  draw(shown) {
    const told = shown.choices.filter((one) => isTold(shown, one));
    const rest = shown.choices.length - told.length;
    return [...told.map((one) => button(shown, one)), rest > 0 && el("span", { key: "rest", className: "rest" }, shown.t("{count} more: below 0.01 each, and chosen by nobody", { count: rest }))];
  },
};

/** Up to so many choices, all are shown. */
const FEW = 8;

/**
 * Whether a choice is shown. Of many, those that the model gives nearly nothing and that nobody
 * chose are left out beside the answers of a class.
 * @param {Shown} shown @param {import("./question.js").Choice} choice
 */
function isTold({ choices, answer, found, tally }, { id }) {
  const share = found?.shares?.[id];
  if (choices.length <= FEW || share === undefined || !tally) return true;
  return share >= 0.005 || Boolean(found?.right?.includes(id)) || answer[0] === id || tally.some(([one]) => one === id);
}

/** @param {Shown} shown @param {import("./question.js").Choice} choice */
function button({ t, answer, found, tally, fixed, change }, { id, label }) {
  const mine = answer[0] === id;
  const right = found?.right?.includes(id);
  const share = found?.shares?.[id];
  const bar = share === undefined ? [] : [shareBar(share), el("span", { className: "number" }, two(share))];
  const count = tally?.filter(([one]) => one === id).length;
  const marks = found ? el("span", { className: "mark-of" }, [right && "✓", mine && t("your guess")].filter(Boolean).join(" ")) : "";
  return el(
    "button",
    { key: id, type: "button", className: "choose", "aria-pressed": String(mine), "data-right": found ? String(Boolean(right)) : undefined, disabled: fixed, onclick: () => change([id]) },
    el("span", { className: "what" }, label),
    ...bar,
    marks,
    count === undefined ? "" : el("span", { className: "tally" }, t("chosen by {count}", { count })),
  );
}
