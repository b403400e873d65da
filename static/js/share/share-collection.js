/** Add a share that was just made to one of the collections that this browser can edit. */

import { oneAtATime } from "../core/wire/one-at-a-time.js";
import { Problem } from "../core/wire/problem.js";
import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { wording } from "../core/figure/problem-wording.js";
import { append, keptCollections, remember } from "../core/store/kept-collections.js";

/** @import { Kept } from "../core/store/kept-collections.js" */

/** @param {{t: import("../lib/i18n.js").Translate, api: import("../core/wire/api.js").Api, lang: string}} context */
export function bindCollecting({ t, api, lang }) {
  const way = /** @type {HTMLDetailsElement} */ (find("#collecting"));
  const form = /** @type {HTMLFormElement} */ (find("form", way));
  const field = /** @type {HTMLInputElement} */ (find("input", form));
  const says = find("#collecting-says");
  let id = "";
  let busy = false;
  const asked = oneAtATime((now) => {
    busy = now;
    draw();
  });

  function draw() {
    render(
      find("ul", way),
      keptCollections().map((one) => el("li", { key: one.id }, el("button", { type: "button", className: "button", "aria-disabled": String(busy), onclick: () => void add(() => append(api, one, item()).then(() => one)) }, one.title || one.id))),
    );
    find("button", form).ariaDisabled = String(busy);
  }

  const item = () => ({ link: `/s/${id}`, title: "", note: "" });

  /** A new collection with the share in it. @returns {Promise<Kept>} */
  async function create() {
    const title = field.value.trim();
    const made = await api.createCollection({ title, note: "", items: [item()] });
    const one = { id: made.id, title, key: made.edit_key };
    remember(one);
    field.value = "";
    return one;
  }

  /** @param {() => Promise<Kept>} work */
  async function add(work) {
    const done = await asked(work);
    if (!done) return;
    if (done instanceof Problem) render(says, wording(t, done));
    else render(says, t("Added to “{title}”.", { title: done.title }), " ", el("a", { href: `/c/${done.id}?lang=${lang}#edit` }, t("Edit the collection")));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim() && !busy) void add(create);
  });
  way.addEventListener("toggle", draw);
  return {
    /** @param {string} share  its id; "": none */
    offer(share) {
      id = share;
      way.hidden = !share;
      says.textContent = "";
      draw();
    },
    open() {
      way.open = true;
      draw();
      /** @type {HTMLElement} */ (way.querySelector("li button") ?? field).focus();
    },
  };
}
