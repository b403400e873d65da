/** The decoding method and its settings, stored in the link as the API takes them. */

import { isFixed } from "../../core/store/share-contents.js";
import { two } from "../../lib/numbers.js";
import { h, render } from "../../lib/dom.js";
import { radios } from "../../core/figure/controls.js";
import { debounce } from "../../lib/timing.js";
import { plan, planInLink } from "../../core/store/options.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Plan } from "../../core/store/options.js" */
/** @typedef {{of: Plan["method"], element: HTMLElement, show: (plan: Plan) => void}} Bound */

/** Milliseconds after the last move of a slider until its value is used. */
const PAUSE = 200;
/** The slider's last position: all tokens, no top-k. */
const ALL = 31;
/** The initial settings of sampling: from the ten candidates shown. */
const FIRST_DRAW = { top_k: 10, seed: 1 };

/** @param {Context} context @returns {HTMLElement & {refresh: () => void}} */
export function methods({ store, t, uniqueId }) {
  const names = { greedy: t("greedy"), beam: t("beam search"), sample: t("sampling") };
  const present = () => plan(store.get().link.decode);

  /** @param {Partial<Plan>} patch @param {"chosen" | "moved"} [origin] */
  function choose(patch, origin = "moved") {
    store.go({ target: null, decode: planInLink({ ...present(), ...patch }) }, origin);
  }

  const list = h("div", { className: "choice" });
  const method = h("fieldset", { className: "option" }, h("legend", {}, t("Decoding method")), list);
  method.addEventListener("change", (event) => {
    const { value } = /** @type {HTMLInputElement} */ (event.target);
    const method = /** @type {Plan["method"]} */ (value);
    choose({ method, ...(method === "sample" ? FIRST_DRAW : {}) }, "chosen");
  });
  const bound = numbers({ t, uniqueId }, choose);
  const element = h("div", { className: "options methods" }, method, ...bound.map((control) => control.element));
  const refresh = () => {
    const now = present();
    const { link } = store.get();
    render(list, radios(uniqueId("decoding-method"), names, link.target === null ? now.method : null));
    for (const { of, element, show } of bound) {
      element.hidden = link.target !== null || of !== now.method;
      show(now);
    }
    for (const field of element.querySelectorAll("input, button"))
      field.toggleAttribute("disabled", isFixed(store.get()));
  };
  refresh();
  return Object.assign(element, { refresh });
}

/** @param {Pick<Context, "t" | "uniqueId">} context @param {(patch: Partial<Plan>) => void} choose @returns {Bound[]} */
function numbers({ t, uniqueId }, choose) {
  return [
    slider("beam", t("Beams"), [1, 8, 1], choose, {
      read: ({ beam }) => beam,
      make: (beam) => ({ beam }),
      format: String,
    }),
    slider("beam", t("Length penalty α"), [0, 2, 0.1], choose, {
      read: (plan) => plan.length_penalty,
      make: (length_penalty) => ({ length_penalty }),
      format: two,
    }),
    slider("sample", t("Temperature"), [0.1, 2, 0.1], choose, {
      read: ({ temperature }) => temperature,
      make: (temperature) => ({ temperature }),
      format: two,
    }),
    slider("sample", t("Top k"), [1, ALL, 1], choose, {
      read: ({ top_k }) => top_k ?? ALL,
      make: (top_k) => ({ top_k: top_k === ALL ? null : top_k }),
      format: (value) => (value >= ALL ? t("all") : String(value)),
    }),
    slider("sample", t("Top p"), [0.05, 1, 0.05], choose, {
      read: ({ top_p }) => top_p,
      make: (top_p) => ({ top_p }),
      format: two,
    }),
    dice({ t, uniqueId }, choose),
  ];
}

/**
 * @param {Plan["method"]} of
 * @param {string} label
 * @param {[number, number, number]} range  lowest, highest, step
 * @param {(patch: Partial<Plan>) => void} choose
 * @param {{read: (plan: Plan) => number, make: (value: number) => Partial<Plan>, format: (value: number) => string}} how
 * @returns {Bound}
 */
function slider(of, label, [min, max, step], choose, { read, make, format }) {
  const input = h("input", { type: "range", min: String(min), max: String(max), step: String(step) });
  const output = h("output", {});
  const later = debounce(() => choose(make(Number(input.value))), PAUSE);
  const tell = (/** @type {number} */ value) => {
    output.textContent = format(value);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    tell(Number(input.value));
    later.later();
  });
  return {
    of,
    element: h("label", { className: "option slider" }, h("span", {}, label), input, output),
    show(plan) {
      later.cancel();
      input.value = String(read(plan));
      tell(read(plan));
    },
  };
}

/** @param {Pick<Context, "t" | "uniqueId">} context @param {(patch: Partial<Plan>) => void} choose @returns {Bound} */
function dice({ t, uniqueId }, choose) {
  const seed = h("input", { type: "number", min: "0", max: "999999", step: "1", id: uniqueId("decoding-seed") });
  seed.addEventListener("change", () => choose({ seed: Math.abs(Math.trunc(Number(seed.value))) || 0 }));
  const roll = h("button", { type: "button", className: "button roll" }, t("Roll again"));
  // A different seed, short enough to be read aloud.
  roll.addEventListener("click", () =>
    choose({ seed: (Number(seed.value) + 1 + Math.floor(Math.random() * 98)) % 100 }),
  );
  const label = h("label", { className: "seed" }, h("span", {}, t("Seed")), seed);
  return {
    of: "sample",
    element: h("span", { className: "option" }, label, roll),
    show: (plan) => (seed.value = String(plan.seed)),
  };
}
