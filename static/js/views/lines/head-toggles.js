/** Which heads are drawn: one button per head with its number, colour and stroke. */

import { h } from "../../lib/dom.js";
import { css } from "../../core/draw/scale.js";
import { dash, every, toggled } from "./attention-lines.js";
import { s } from "../../core/draw/svg.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Rgb } from "../../core/draw/scale.js" */

/** @param {Context} context @param {(head: number | null) => void} onPoint  at a head's button */
export function createToggles({ store, t }, onPoint) {
  const list = h("div", { className: "threads" });
  const all = button(t("all"), () => choose(every(count), null));
  const none = button(t("none"), () => choose([], null));
  const only = button("", () => choose(null, null));
  const element = h(
    "fieldset",
    { className: "toggles" },
    h("legend", {}, t("Heads")),
    list,
    h("div", { className: "sets" }, all, none, only),
  );
  let count = 0;
  /** @type {number[]} */
  let on = [];

  /** @param {number[] | null} heads  null: the present one @param {number | null} head  that the page is at from now on */
  function choose(heads, head) {
    const { link } = store.get();
    store.go({ head: head ?? link.head, options: { ...link.options, heads } });
  }

  /** @param {number} head */
  function flip(head) {
    const next = toggled(on, head);
    choose(next, next.includes(head) ? head : (next[0] ?? head));
  }

  /** @param {number} head */
  function thread(head) {
    const toggle = h("button", { type: "button", className: "thread", title: t("Point: highlight this head. Click: on or " +
      "off. Double-click: only this one.") });
    toggle.addEventListener("click", () => flip(head));
    toggle.addEventListener("dblclick", () => choose(null, head));
    const point = (/** @type {boolean} */ at) => onPoint(at && on.includes(head) ? head : null);
    for (const name of ["pointerenter", "focus"]) toggle.addEventListener(name, () => point(true));
    for (const name of ["pointerleave", "blur"]) toggle.addEventListener(name, () => point(false));
    return toggle;
  }

  return {
    element,

    /** @param {number} heads @param {number[]} shown @param {Rgb[]} colours */
    draw(heads, shown, colours) {
      [count, on] = [heads, shown];
      if (list.children.length !== count)
        list.replaceChildren(...Array.from({ length: count }, (_, head) => thread(head)));
      const { head: present } = store.get().link;
      [...list.children].forEach((toggle, head) => {
        toggle.setAttribute("aria-pressed", String(on.includes(head)));
        toggle.setAttribute("aria-label", t("Head {n}", { n: head + 1 }));
        toggle.classList.toggle("present", head === present);
        // Update only what changes: the second click of a double click must find the element of the first.
        const colour = css(colours[head]);
        const stroke = dash(head, shown.length);
        const look = `${colour} ${stroke}`;
        if (/** @type {HTMLElement} */ (toggle).dataset.look === look) return;
        /** @type {HTMLElement} */ (toggle).dataset.look = look;
        toggle.replaceChildren(sample(colour, stroke), String(head + 1));
      });
      only.textContent = t("only {n}", { n: present + 1 });
      all.disabled = on.length === count;
      none.disabled = !on.length;
      only.disabled = on.length === 1 && on[0] === present;
    },
  };
}

/** @param {string} text @param {() => void} task */
function button(text, task) {
  const element = h("button", { type: "button", className: "button quiet" }, text);
  element.addEventListener("click", task);
  return element;
}

/** @param {string} colour @param {string | null} stroke  A piece of its line. */
const sample = (colour, stroke) =>
  s(
    "svg",
    { width: 18, height: 8, viewBox: "0 0 18 8", "aria-hidden": "true" },
    s("path", { d: "M1 4H17", fill: "none", stroke: colour, "stroke-width": 3, "stroke-dasharray": stroke }),
  );
