/** Whether a collection is on the shelf of its server; its owner decides. */

import { wording } from "../core/figure/problem-wording.js";
import { collectionKeys } from "../core/store/kept-collections.js";
import { createRequestLock } from "../core/wire/connection.js";
import { Problem } from "../core/wire/reply.js";
import { el, h, render } from "../lib/dom.js";

/** @import { Listing } from "../core/wire/schemas.d.ts" */

/**
 * @param {Pick<import("./editor.js").Plan, "page" | "api" | "lang" | "id">} plan
 */
export function createListing({ page: { t }, api, lang, id }) {
  const element = h("section", { className: "listing" });
  /** @type {Listing["languages"]} */
  let listed = [];
  let choice = lang === "zh" ? "zh" : "en";
  let [busy, message] = [false, ""];
  /** @type {Problem | null} */
  let problem = null;
  const askServer = createRequestLock((now) => ((busy = now), draw()));

  /** @param {Listing["languages"]} languages  none: take it off the shelf */
  async function list(languages) {
    const done = await askServer(() => api.listCollection(id, languages, collectionKeys.keyOf(id)));
    if (done === null) return;
    problem = done instanceof Problem ? done : null;
    if (!problem) {
      listed = languages;
      message = listed.length ? t("It is on the shelf.") : t("It is off the shelf. Copies stay with those who made them.");
    }
    draw();
  }

  function draw() {
    const option = (/** @type {string} */ value, /** @type {string} */ words) => el("option", { key: value, value, selected: choice === value }, words);
    render(
      element,
      el("h2", { key: "title" }, t("On the shelf")),
      el("p", { key: "what", className: "meta" }, t("Anyone can then find and copy it, with its minutes and its questions and their answers. Private notes stay private."), " ", el("a", { href: `/collections?lang=${lang}`, target: "_blank", rel: "noopener" }, t("See the shelf"))),
      listed.length
        ? el("p", { key: "off" }, el("button", { type: "button", className: "button", "aria-disabled": String(busy), onclick: () => !busy && void list([]) }, t("Take it off the shelf")))
        : el(
            "p",
            { key: "on", className: "together" },
            el("select", { "aria-label": t("Its language"), onchange: (/** @type {any} */ { target }) => (choice = target.value) }, option("en", "English"), option("zh", "中文"), option("en zh", t("Both"))),
            el("button", { type: "button", className: "button", "aria-disabled": String(busy), onclick: () => !busy && void list(/** @type {Listing["languages"]} */ (choice.split(" "))) }, t("Put it on the shelf")),
          ),
      el("p", { key: "says", className: "meta", role: "status" }, message),
      problem && el("p", { key: "problem", className: "problem", role: "alert" }, wording(t, problem)),
    );
  }

  return {
    element,
    /** @param {Listing["languages"]} [languages]  for which it is listed */
    show(languages = []) {
      [listed, message, problem] = [languages, "", null];
      draw();
    },
  };
}
