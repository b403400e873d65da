/**
 * A line under the translation, only where there is something to say: that the model is often wrong
 * here, what was not translated, and what shows why.
 */

import { spelled } from "../core/compute/alignment.js";
import { doubtsOf, mostCut } from "../core/store/certainty.js";
import { crossBlock, typedText } from "../core/wire/model.js";
import { languages } from "../core/wire/tokens.js";
import { createDisclosure } from "../core/page/disclosure.js";
import { el, find, h, render } from "../lib/dom.js";
import { two } from "../lib/numbers.js";
import { rowOf } from "../core/wire/reply.js";
import { view } from "../views/index.js";

/** @import { Doubts } from "../core/store/certainty.js" */
/** @import { Child } from "../lib/dom.js" */
/** @import { PageServices } from "./main-figure.js" */

/** @param {PageServices} services */
export function bindCertainty(services) {
  const { store, t, phrase, figure } = services;
  const statement = h("span", { className: "says" });
  const button = h("button", { type: "button", className: "button quiet", "aria-expanded": "false", "aria-controls": "why-wrong" }, t("Why is it wrong?"));
  const reasons = h("ul", { id: "why-wrong", className: "why-wrong", hidden: true });
  const line = find("#certainty");
  line.append(statement, " ", button, reasons);
  const menu = createDisclosure(button, () => reasons, (open) => (reasons.hidden = !open));
  reasons.addEventListener("click", () => menu.close());

  function show() {
    const page = store.get();
    const doubts = doubtsOf(page);
    const isSaid = doubts !== null && (doubts.improbable || doubts.unlike !== null || doubts.words.length > 0 || doubts.passedOver.length > 0);
    line.hidden = !isSaid;
    if (!isSaid) return menu.close();
    render(statement, sentences(doubts));
    render(reasons, reasonItems(doubts));
  }

  /** @param {Doubts} doubts @returns {Child[]} */
  function sentences({ words, limit, passedOver, improbable, unlike }) {
    const { trace, model } = store.get();
    const [from] = languages(trace?.direction ?? "");
    const tokens = trace?.tokens[typedText(model)] ?? [];
    const names = passedOver.flatMap((group, n) => [n ? t(", ") : "", el("span", { lang: from }, group.map((index) => tokens[index].text).join("").trim())]);
    const isOftenWrong = improbable || unlike !== null;
    const shareLeftOut = model?.certainty?.untranslated;
    const parts = [
      isOftenWrong && [el("b", {}, t("This small model is often wrong here."))],
      unlike !== null && [t("The text is unlike what it was trained on: its {words} words are cut into {pieces} pieces.", { words: unlike.words, pieces: unlike.pieces })],
      !isOftenWrong && words.length > 0 && [
        el("span", { className: "doubtful" }, t("Underlined")),
        " ",
        t("words are less probable than {limit}; {share} of such words are wrong.", { limit: two(Math.min(1, limit)), share: two(model?.certainty?.precision ?? 0) }),
      ],
      passedOver.length > 0 && phrase(t("Probably not translated: {words}."), {
        words: el("span", shareLeftOut ? { title: t("{share} of the words marked so were not translated, on sentences with a reference", { share: two(shareLeftOut) }) } : {}, names),
      }),
    ];
    return parts.flatMap((part) => (part ? [...part, " "] : []));
  }

  /** The places that show why, as far as there is something to see. @param {Doubts} doubts */
  function reasonItems({ words }) {
    const { trace, model } = store.get();
    if (!trace) return [];
    const first = words.length ? words.reduce((a, b) => (b.probability < a.probability ? b : a)) : null;
    const [step = 0] = first?.tokens ?? [];
    const query = rowOf(trace.output, step);
    const source = typedText(model);
    const block = crossBlock(model).id;
    const places = [
      { id: "decoding", name: t("Candidates"), about: t("what else it could have written, and how probable that was"), link: { view: "decoding", block, query, key: null } },
      { id: "alignment", name: t("Sources"), about: t("at which words it looked while writing"), link: { view: "alignment", block, query: null, key: null } },
    ].filter(({ id }) => figure.offer().includes(view(id)));
    const tokens = trace.tokens[source] ?? [];
    const rare = mostCut(tokens);
    const rareWord = rare && el("span", { lang: languages(trace.direction)[0] }, spelled(tokens, rare).trim());
    return [
      ...places.map(({ name, about, link }) => el("li", {}, el("button", { type: "button", className: "button quiet", onclick: () => store.go(link, "chosen") }, el("b", {}, name), " ", about))),
      ...(rare && rareWord
        ? [el("li", {}, el("button", { type: "button", className: "button quiet", onclick: () => showTokens(rare[0]) }, el("b", {}, t("Unknown words")), " ", phrase(t("a word in many pieces was rare in training: {word}, {count} pieces"), { word: rareWord, count: rare.length })))]
        : []),
    ];
  }

  /** @param {number} index */
  function showTokens(index) {
    const open = find("#band-open");
    if (open.checkVisibility() && open.getAttribute("aria-expanded") === "false") open.click();
    const chips = find("#source-tokens").querySelectorAll("button");
    chips[index]?.focus();
  }

  store.subscribe((page) => [doubtsOf(page), page.model, page.trace?.id], show);
  show();
}
