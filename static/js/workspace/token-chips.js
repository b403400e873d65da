/** The tokens of both sides, and below the translation a line about what is doubtful in it. */

import { spelled } from "../core/compute/alignment.js";
import { token } from "../core/draw/token.js";
import { makeOneStop } from "../core/figure/pointing.js";
import { createDisclosure } from "../core/page/disclosure.js";
import { doubtfulWord, doubtsOf, mostCut } from "../core/store/certainty.js";
import { comparison } from "../core/store/comparison.js";
import { highlightedTokens } from "../core/store/heatmap-data.js";
import { highlightOf } from "../core/store/highlight.js";
import { isLong } from "../core/wire/long-texts.js";
import { axes, blockAt, crossBlock, selfBlock, typedText } from "../core/wire/model-description.js";
import { continuesAt, rowOf } from "../core/wire/reply.js";
import { languages } from "../core/wire/tokens.js";
import { el, find, h, render } from "../lib/dom.js";
import { two } from "../lib/numbers.js";
import { view } from "../views/index.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { Doubts } from "../core/store/certainty.js" */
/** @import { Ref } from "../core/store/store.js" */
/** @import { Step } from "../core/wire/tokens.js" */
/** @import { Child } from "../lib/dom.js" */
/** @import { PageServices } from "./main-figure.js" */

// The tokens as buttons: pointing highlights a token, a click pins it.

// A sign where the content of a scrolled element goes on beyond its edge.

/**
 * Keep the attributes `data-before` and `data-after`: whether there is more on that side.
 * @param {HTMLElement} element
 * @param {"x" | "y"} axis
 * @returns {() => void}  to be called when the content has changed
 */
export function markCutOff(element, axis) {
  function show() {
    const { scrollLeft, clientWidth, scrollWidth, scrollTop, clientHeight, scrollHeight } = element;
    const [start, room, size] = axis === "x" ? [scrollLeft, clientWidth, scrollWidth] : [scrollTop, clientHeight, scrollHeight];
    element.toggleAttribute("data-before", start > 1);
    element.toggleAttribute("data-after", start + room < size - 1);
  }
  element.addEventListener("scroll", show, { passive: true });
  new ResizeObserver(show).observe(element);
  return show;
}

/**
 * Scroll a list sideways, and nothing around it, until one of its elements is seen.
 * @param {HTMLElement} list
 * @param {HTMLElement} item
 */
function reveal(list, item) {
  const [outer, inner] = [list.getBoundingClientRect(), item.getBoundingClientRect()];
  if (inner.left < outer.left || inner.right > outer.right) list.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
}

/**
 * A text with its doubtful words marked. Offsets count code points.
 * @param {import("../core/wire/safetensors.js").Trace["output"]} output
 * @param {Doubts} doubts
 * @param {Context["t"]} t
 */
function markedText({ text, tokens }, doubts, t) {
  const characters = [...text];
  const part = (/** @type {number} */ from, /** @type {number} */ to) => characters.slice(from, to).join("");
  let end = 0;
  const pieces = doubts.words.flatMap(({ tokens: group, probability }) => {
    const to = tokens[group[group.length - 1]].end;
    const word = part(tokens[group[0]].start, to).trimStart();
    const before = part(end, to - [...word].length);
    end = to;
    return [before, el("span", { className: "doubtful", title: t("improbable: {probability}", { probability: two(probability) }) }, word)];
  });
  return [...pieces, part(end, characters.length)];
}

/**
 * Mark the doubtful words, and the source words that nothing written looks at.
 * @param {import("../core/store/store.js").Page} page
 * @param {{lists: HTMLElement[], output: HTMLElement}} places
 * @param {Context["t"]} t
 */
function markDoubts(page, { lists, output }, t) {
  const { trace, model } = page;
  if (!trace || !model || isLong(trace)) return;
  const doubts = doubtsOf(page);
  const passedOver = new Set(doubts?.passedOver.flat());
  lists[0].querySelectorAll(".chip").forEach((chip, index) => chip.classList.toggle("passed-over", passedOver.has(index)));
  if (model.texts.length > 1) lists[1].querySelectorAll(".chip").forEach((chip, index) => chip.classList.toggle("doubtful", doubtfulWord(doubts, index) !== null));
  if (trace.output.text) render(output, doubts ? markedText(trace.output, doubts, t) : trace.output.text);
}

/** @param {Context} context */
export function bindChips({ store, t }) {
  /** One list per text, the typed one first. */
  const lists = ["#source-tokens", "#target-tokens"].map((id) => find(id));
  const output = find("#output");
  lists.forEach((list) => makeOneStop(list));
  const cutOff = [...lists.map((list) => markCutOff(list, "x")), markCutOff(output, "x")];

  function rebuild() {
    const { trace, model } = store.get();
    if (!trace || !model) return;
    fill(trace, model);
    cutOff.forEach((show) => show());
  }

  /** @param {import("../core/wire/safetensors.js").Trace} trace @param {import("../core/wire/model-description.js").ModelInfo} model */
  function fill(trace, model) {
    if (isLong(trace)) return counted(trace, model.texts);
    const steps = model.texts.map((text) => axes(model, trace, selfBlock(model, text).id).rows);
    const from = continuesAt(model, trace.output) + 1;
    const kind = (/** @type {string} */ side, /** @type {number} */ index) => {
      if (index >= from) return "continued";
      if (trace.tokens[side][index].pair) return "second";
      return trace.tokens[side][index].template ? "around" : "";
    };
    model.texts.forEach((side, i) => render(lists[i], steps[i].map((step, index) => chip({ side, index }, step, kind(side, index)))));
    const [, written] = steps;
    if (!written) lists[0].setAttribute("aria-label", t("Tokens that the model reads"));
    lists[1].closest(".side")?.toggleAttribute("hidden", !written);
    render(output, trace.output.text || t("(nothing)"));
    output.lang = written?.find(({ writes }) => !writes.special)?.writes.lang ?? "";
  }

  /**
   * For a long text, only the number of tokens; the figure shows the text.
   * @param {import("../core/wire/safetensors.js").Trace} trace
   * @param {string[]} texts
   */
  function counted({ tokens, output }, texts) {
    texts.forEach((text, i) => render(lists[i], el("li", { className: "counted" }, t("{n} tokens", { n: tokens[text]?.length ?? 0 }))));
    lists[1].closest(".side")?.toggleAttribute("hidden", texts.length < 2);
    render(find("#output"), output.text);
  }

  /** @param {Ref} ref @param {Step} step @param {"" | "continued" | "around" | "second"} kind  written by the model after the text; of a chat template; of the second text */
  function chip(ref, { reads, writes }, kind) {
    const enter = () => store.hover({ query: ref, key: ref });
    const leave = () => store.hover(null);
    const listeners = {
      onpointerenter: (/** @type {PointerEvent} */ event) => event.pointerType === "mouse" && enter(),
      onpointerleave: leave,
      onfocus: (/** @type {any} */ { target }) => target.matches(":focus-visible") && enter(),
      onblur: leave,
      onclick: () => pin(ref),
    };
    const props = { className: `chip ${kind}`.trim(), title: kind === "continued" ? t("written by the model") : kind === "around" ? t("of the chat template") : kind === "second" ? t("of the second text") : null };
    return el("li", {}, el("button", { type: "button", ...props, ...listeners }, reads && token(reads, "reads"), token(writes)));
  }

  /** @param {Ref} ref */
  function pin({ side, index }) {
    const { link } = store.get();
    const { query } = blockAt(store.get());
    const patch = side === query ? { query: index, key: null } : { key: index };
    const pinned = side === query ? link.query === index && link.key === null : link.key === index;
    const row = highlightOf(store.get(), null).query;
    if (pinned) store.go({ query: null, key: null });
    else store.go(side === query ? patch : { query: row, ...patch }, "pinned");
  }

  function light() {
    const page = store.get();
    const { queries, keys } = highlightedTokens(page, store.hovered());
    const block = blockAt(page);
    for (const [n, side] of (page.model?.texts ?? []).entries()) {
      [...lists[n].querySelectorAll(".chip")].forEach((button, i) => {
        button.classList.toggle("as-query", side === block.query && queries.includes(i));
        button.classList.toggle("as-key", side === block.key && keys.includes(i));
        const pinned =
          side === block.query ? page.link.query === i : side === block.key && page.link.key === i;
        button.setAttribute("aria-pressed", String(pinned));
        if (pinned) reveal(lists[n], /** @type {HTMLElement} */ (button));
      });
    }
  }

  store.subscribe(({ trace }) => trace?.id, rebuild);
  store.subscribe((page) => [page.trace?.id, doubtsOf(page)], () => markDoubts(store.get(), { lists, output }, t));
  store.subscribe(lights, light);
  store.watch(light);
}

/**
 * What `highlightedTokens` depends on: a comparison highlights its largest change, and both runs of a changed model the
 * row of the one as trained, which may come later.
 * @param {import("../core/store/store.js").Page} page
 */
function lights(page) {
  const { link, trace, model, runs } = page;
  return [link, trace, model, runs, link.view === "compare" ? comparison(page) : null];
}

// A line under the translation, only where there is something to say: that the model is often wrong here,
// what was not translated, and what shows why.

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
        // Where the band is one line, nothing underlined is seen.
        el("span", { className: "of-underlined", "data-folded": t("Some of it is improbable.") },
          el("span", {},
            el("span", { className: "doubtful" }, t("Underlined")),
            " ",
            t("words are less probable than {limit}; {share} of such words are wrong.", { limit: two(Math.min(1, limit)), share: two(model?.certainty?.precision ?? 0) }))),
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
