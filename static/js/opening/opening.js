/**
 * The opening for newcomers: what attention is, in one sentence computed from a run, with a picture
 * that plays until the reader interacts with it, and three buttons to continue.
 */

import { doubtsOf } from "../core/store/certainty.js";
import { makeOneStop } from "../core/figure/pointing.js";
import { withoutPrefix } from "../core/store/link-options.js";
import { exampleName, examplesFor } from "../core/store/examples-and-tasks.js";
import { bcp47 } from "../core/wire/tokens.js";
import { el, find, h, render } from "../lib/dom.js";
import { attentionSentence, createPairing, hasOpening, openingOf } from "./word-pairing.js";

/** @import { PageServices } from "../workspace/main-figure.js" */
/** @import { Opening } from "./word-pairing.js" */

/**
 * Whether the reader has visited before; if so, the workspace opens at once. `first-paint.js` reads
 * the same key.
 */

const KEY = "visited";

function rememberVisit() {
  try {
    window.localStorage.setItem(KEY, "1");
  } catch {
    // Without storage, the opening is shown each time.
  }
}

/** Milliseconds per word while playing. */
const BEAT = 1800;

/** @param {PageServices} services */
export function bindOpening(services) {
  const { store } = services;
  const place = find("#opening");
  const headline = find("#opening-says");
  const gloss = /** @type {HTMLInputElement} */ (find("#opening-gloss"));
  const player = createPlayer(services, () => step());
  const picture = createPairing(services, (word) => {
    player.stop();
    light(word);
  });
  find("#opening-picture").replaceWith(picture.element);
  /** The highlighted word; null: the clearest one. @type {number | null} */
  let pointedWord = null;
  const open = () => store.get().link.options.opening === true;

  /** @param {number} word */
  function light(word) {
    pointedWord = word;
    show();
  }

  /** Go to the next word, cyclically, skipping punctuation. */
  function step() {
    const content = openingOf(store.get());
    if (!content) return;
    const spoken = content.written.flatMap(({ spoken }, i) => (spoken ? [i] : []));
    light(spoken.find((i) => i > litIn(content)) ?? spoken[0] ?? 0);
  }

  /** @param {Opening} content */
  const litIn = (content) => Math.min(pointedWord ?? firstOf(services, content), content.written.length - 1);

  function show() {
    const page = store.get();
    document.documentElement.toggleAttribute("data-opening", open());
    place.hidden = !open();
    if (!open()) return player.end();
    // A model whose alignment was not measured has no opening.
    if (page.model && page.status === "ready" && !hasOpening(page.model)) return leave(services);
    const content = openingOf(page);
    if (!content?.written.length) return;
    const { glosses: glossed = true } = page.link.options;
    gloss.checked = glossed;
    render(headline, sentence(services, content, litIn(content), glossed));
    picture.draw(content, litIn(content), glossed);
    player.start();
  }

  gloss.addEventListener("change", () => store.choose({ glosses: gloss.checked }));
  bindDoors(services);
  offer(services);
  store.subscribe(({ trace }) => trace?.tokens, () => (pointedWord = null));
  store.subscribe(({ link, model, trace, status }) => [link.options, link.source, model, trace, status], show);
  show();
}

/** For an example, the word that shows its point. @param {PageServices} services @param {Opening} content */
function firstOf({ store }, content) {
  const { source, lang } = store.get().link;
  const example = examplesFor(lang).find(({ text }) => text === source);
  const exampleWord = content.written.findIndex(({ label }) => label.word === example?.at);
  return exampleWord < 0 ? content.first : exampleWord;
}

/** The claim, and what it is here. @param {PageServices} services @param {Opening} content @param {number} word @param {boolean} glossed */
const sentence = (services, content, word, glossed) => [
  el("span", { className: "claim" }, services.t("Attention decides which words a model looks at.")),
  " ",
  el("span", { className: "here" }, attentionSentence(services, content, word, glossed)),
  ...(doubtsOf(services.store.get())?.improbable ? [" ", services.t("But the translation is improbable.")] : []),
];

/**
 * Play until the reader interacts with the page; never with reduced motion.
 * @param {PageServices} services
 * @param {() => void} step
 */
function createPlayer({ t }, step) {
  const button = find("#opening-play");
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let playing;
  let touched = window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  function play() {
    playing ??= setInterval(step, BEAT);
    label();
  }
  function end() {
    clearInterval(playing);
    playing = undefined;
    label();
  }
  function stop() {
    touched = true;
    end();
  }
  function label() {
    const [sign, word] = playing === undefined ? ["▶", t("Play")] : ["❚❚", t("Pause")];
    render(button, el("span", { "aria-hidden": "true" }, sign), word);
  }
  button.addEventListener("click", () => (playing === undefined ? play() : stop()));
  const touch = (/** @type {Event} */ { target }) => !button.contains(/** @type {Node} */ (target)) && playing !== undefined && stop();
  document.addEventListener("pointerdown", touch);
  document.addEventListener("keydown", touch);
  label();
  return { start: () => touched || play(), stop, end };
}

/** @param {PageServices} services */
function bindDoors(services) {
  const { store } = services;
  find("#door-learn").addEventListener("click", rememberVisit);
  find("#door-explore").addEventListener("click", () => {
    leave(services);
    find("#stage").focus();
  });
  find("#door-type").addEventListener("click", () => {
    leave(services);
    if (services.figure.offer().some(({ id }) => id === "alignment")) store.go({ view: "alignment" });
    const line = find("#band-open");
    if (line.checkVisibility()) line.click();
    const field = /** @type {HTMLTextAreaElement} */ (find("#source"));
    field.focus();
    field.select();
  });
}

/** Go to the workspace, where returning readers start. @param {PageServices} services */
function leave({ store }) {
  rememberVisit();
  store.choose({ opening: false }, "chosen");
}

/** The examples by what they show, in the reader's language first. @param {PageServices} services */
function offer({ store, t }) {
  const { lang } = store.get().link;
  const all = examplesFor(lang);
  makeOneStop(find("#opening-examples"));
  for (const of of new Set(all.map((example) => example.lang))) {
    const name = of === lang ? [] : [h("li", { lang: bcp47(of) }, of === "zh" ? "中文" : "English")];
    const items = all.filter((example) => example.lang === of).map(({ text, shows }) => h("li", {}, button(text, exampleName(shows, t))));
    find("#opening-examples").append(h("ul", { className: "opening-examples" }, ...name, ...items));
  }

  /** @param {string} source @param {string} name */
  function button(source, name) {
    const onclick = () => {
      const { decode } = store.get().link;
      store.go({ source, target: null, pad_to: null, direction: null, query: null, key: null, decode: withoutPrefix(decode) }, "chosen");
    };
    return h("button", { type: "button", className: "example", title: source, onclick }, name);
  }
}
