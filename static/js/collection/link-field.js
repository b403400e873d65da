/** Add an item to a collection by pasting a link of this server. */

import { Problem, failure } from "../core/wire/problem.js";
import { h } from "../lib/dom.js";
import { whileBusy } from "../lib/timing.js";
import { wording } from "../core/figure/problem-wording.js";

/**
 * @param {Pick<import("./editor.js").Plan, "page" | "api" | "lang">} plan
 * @param {(found: import("../core/wire/schemas.d.ts").LinkReply) => void} add
 */
export function createLinkField({ page: { t }, api, lang }, add) {
  const field = h("input", { type: "text", inputMode: "url", autocomplete: "off", spellcheck: false, maxLength: 8000, placeholder: "/learn/masks#figure-1" });
  const button = h("button", { type: "submit", className: "button" }, t("Add link"));
  const problem = h("p", { className: "problem", role: "alert", hidden: true });
  const hint = h("p", { className: "meta" }, t("The link of a sentence, of attention by hand, of a share, or of a lesson or one of its figures. A share keeps its numbers; anything else is computed whenever it is opened, by the model of that day."));
  const label = h("label", {}, h("span", {}, t("Paste a link of this server")), h("span", { className: "together" }, field, button));
  const element = h("form", { className: "adding" }, label, problem, hint);

  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    const found = await whileBusy(() => api.link(field.value, lang).catch(failure), button);
    const failed = found instanceof Problem ? found : found.fits ? null : new Problem("not-a-state", { field: "shows" });
    problem.hidden = !failed;
    problem.textContent = failed ? wording(t, failed) : "";
    field.focus();
    if (failed || found instanceof Problem) return field.select();
    field.value = "";
    add(found);
  });
  return { element };
}
