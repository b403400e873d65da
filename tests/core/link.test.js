import assert from "node:assert/strict";
import { test } from "node:test";

import { choiceOption, initialChoices, listOption, textOption, integerOption } from "../../static/js/core/store/link-options.js";
import { DEFAULTS, REQUEST_KEYS, format, mergeStates, parse, stateOfShare } from "../../static/js/core/store/link.js";
import { bind } from "../../static/js/core/store/address.js";
import { createStore } from "../../static/js/core/store/store.js";

/** @param {Partial<import("../../static/js/core/store/link.js").State>} patch */
const round = (patch) => ({ ...DEFAULTS, ...parse(format({ ...DEFAULTS, ...patch })) });

test("any sentence round-trips", () => {
  for (const source of [
    "a&b=c#d+e%20f?",
    "100% of 你好",
    "👩‍👩‍👧 “q”",
    " spaces  and\nlines ",
    "%zz",
    "a;b",
    "<eos>",
  ]) {
    assert.equal(round({ source }).source, source);
  }
});

test("every key round-trips", () => {
  const state = {
    source: "Hi",
    model: "m",
    direction: "zh-en",
    target: "嗨",
    decode: { method: "beam", beam: 4 },
    interventions: [{ at: "encoder.1.self", head: 3, do: "zero" }],
    pad_to: 12,
    chat: /** @type {const} */ (true),
    pair: "a & b",
    view: "qkv",
    block: /** @type {const} */ ("cross"),
    layer: 2,
    head: 7,
    query: 0,
    key: 4,
    lang: "zh",
    options: {},
  };
  assert.deepEqual(round(state), state);
});

test("two long texts are both in the fragment", () => {
  const state = { ...DEFAULTS, source: "a ".repeat(900), pair: "b & c ".repeat(200) };
  const [query, fragment] = format(state).split("#");
  assert.doesNotMatch(query, /source|pair/);
  assert.match(fragment, /^source=.*&pair=/);
  assert.equal(parse(`${query}#${fragment}`).pair, state.pair);
  assert.equal(parse(`${query}#${fragment}`).source, state.source);
});

test("a link of Positions that names its channels as a pair has no second text", () => {
  const options = { channels: integerOption(0, 64, 0) };
  const state = parse("source=Hi&view=positions&pair=3", options);
  assert.equal(state.options?.channels, 3);
  assert.equal(state.pair, undefined);
  assert.equal(parse("source=Hi&view=lines&pair=3", options).pair, "3");
  const positions = mergeStates({ ...DEFAULTS, source: "Hi", view: "positions" }, state);
  assert.match(format(positions, options), /[&]pair=3$/);
  for (const pair of ["a dog", "7"]) {
    const both = parse(format({ ...positions, pair }, options), options);
    assert.deepEqual([both.pair, both.options?.channels], [pair, 3]);
    const plain = parse(format({ ...positions, pair, options: {} }, options), options);
    assert.equal(plain.pair, pair);
  }
});

test("a link says its place even where that is the default, and nothing that is not set", () => {
  const search = format({ ...DEFAULTS, source: "Hi" });
  assert.equal(search, "source=Hi&view=attention&layer=0&head=0&lang=en");
});

test("what cannot be read is left out", () => {
  assert.deepEqual(
    parse("?block=&layer=-1&head=1e3&query=x&interventions={&unknown=1"),
    { options: {} },
  );
});

test("a share's state is held to the same as a link", () => {
  const good = { source: "Hi", block: "cross", layer: 2, query: 0, interventions: [{ at: "source", do: { mask: 1 } }] };
  assert.deepEqual(stateOfShare(good), { ...good, options: {} });
  const bad = { source: "Hi", block: "", layer: -1, head: 1.5, query: "x", key: {}, pad_to: true, target: null };
  assert.deepEqual(stateOfShare(bad), { source: "Hi", options: {} });
  assert.deepEqual(stateOfShare({ scale: "log", top: 0, b: ["x"] }, OPTIONS).options, { scale: "log", b: '["x"]' });
});

test("of what a link says twice the first counts", () => {
  assert.equal(parse("layer=1&layer=2").layer, 1);
});

const OPTIONS = { scale: choiceOption("linear", "log"), only: listOption(), top: integerOption(1, 100, 100), b: textOption() };
const FIRST = { ...DEFAULTS, options: initialChoices(OPTIONS) };

test("what was chosen stands in the link, what is as at first does not", () => {
  const options = { ...FIRST.options, scale: "log", only: [0, 3], b: "a&b 你" };
  const search = format({ ...FIRST, source: "Hi", options }, OPTIONS);
  assert.match(search, /&scale=log&only=0%2C3&b=a%26b\+/);
  assert.doesNotMatch(search, /top/);
  assert.deepEqual(mergeStates(FIRST, parse(search, OPTIONS)).options, options);
});

test("a choice that cannot be read is left at its first", () => {
  const { options } = mergeStates(FIRST, parse("?scale=cubic&only=1,x&top=101", OPTIONS));
  assert.deepEqual(options, FIRST.options);
});

/** A window as far as url.js looks at one. */
function fakeWindow() {
  /** @type {[string, string][]} */
  const calls = [];
  /** @type {Record<string, () => void>} */
  const listeners = {};
  /** @type {(() => void)[]} */
  const frames = [];
  const record =
    (/** @type {string} */ how) =>
    (/** @type {unknown} */ _, /** @type {string} */ __, /** @type {string} */ url) =>
      calls.push([how, url]);
  const window = {
    location: { search: "" },
    history: { pushState: record("push"), replaceState: record("replace") },
    addEventListener: (/** @type {string} */ name, /** @type {() => void} */ listener) =>
      (listeners[name] = listener),
    requestAnimationFrame: (/** @type {() => void} */ task) => frames.push(task),
    cancelAnimationFrame: () => frames.splice(0),
    setTimeout: (/** @type {() => void} */ task) => task(),
    clearTimeout: () => {},
  };
  const paint = () => frames.splice(0).forEach((task) => task());
  return { window: /** @type {any} */ (window), calls, listeners, paint };
}

test("the address is written once what it says is on the screen", () => {
  const { window, calls, listeners, paint } = fakeWindow();
  const store = createStore({ ...DEFAULTS });
  bind(window, store, { ...DEFAULTS });
  for (const head of [1, 2, 3]) store.go({ head });
  assert.equal(calls.length, 0);
  paint();
  assert.equal(calls.length, 1);
  assert.match(calls[0][1], /head=3/);
  store.go({ head: 4 });
  listeners.popstate();
  paint();
  assert.equal(calls.length, 1, "what was gone back from is not written over what was gone to");
  store.go({ head: 5 });
  listeners.pagehide();
  assert.match(calls[1][1], /head=5/);
});

test("going back to the same request is no other request", () => {
  const { window, listeners } = fakeWindow();
  const interventions = [{ at: "encoder.1.self", head: 3, do: "zero" }];
  const store = createStore({ ...DEFAULTS, source: "Hi", interventions });
  bind(window, store, { ...DEFAULTS });
  window.location.search = `?source=Hi&layer=1&interventions=${encodeURIComponent(JSON.stringify(interventions))}`;
  listeners.popstate();
  assert.equal(store.get().link.layer, 1);
  assert.equal(store.get().link.interventions, interventions, "the very same");
  window.location.search = "?source=Hi";
  listeners.popstate();
  assert.equal(store.get().link.interventions, null);
});

test("the address bar follows: replaced while typing, pushed on a pin, left alone on back", () => {
  const { window, calls, listeners } = fakeWindow();
  const store = createStore({ ...DEFAULTS, source: "Hi" });
  bind(window, store, { ...DEFAULTS });
  store.go({ source: "Hi you" });
  store.go({ query: 2, key: 1 }, "pinned");
  store.set({ status: "ready" });
  assert.deepEqual(
    calls.map(([how]) => how),
    ["replace", "push"],
  );
  assert.match(calls[1][1], /source=Hi\+you.*query=2&key=1/);
  window.location.search = "?source=Before&layer=1";
  listeners.popstate();
  assert.equal(calls.length, 2);
  assert.deepEqual(
    [store.get().link.source, store.get().link.layer, store.get().link.query],
    ["Before", 1, null],
  );
});

test("a link that says a place that is not there is put right in the address bar", () => {
  const { window, calls, listeners } = fakeWindow();
  const store = createStore({ ...DEFAULTS, source: "Hi" }, (page) => ({ ...page, link: { ...page.link, layer: 0 } }));
  bind(window, store, { ...DEFAULTS });
  window.location.search = "?source=Hi&view=lines&layer=7";
  listeners.popstate();
  assert.equal(calls.length, 1);
  assert.match(calls[0][1], /view=lines.*layer=0/);
});

test("the address bar says what a view lets one choose, however it is written", () => {
  const { window, calls, listeners, paint } = fakeWindow();
  const first = { ...DEFAULTS, source: "Hi", options: { ...FIRST.options } };
  const store = createStore(first);
  bind(window, store, first, OPTIONS);
  store.choose({ scale: "log" });
  paint();
  store.go({ view: "lines" }, "chosen");
  store.go({ query: 1 }, "pinned");
  assert.deepEqual(calls.map(([how]) => how), ["replace", "push", "push"]);
  for (const [, url] of calls) assert.match(url, /scale=log/);
  window.location.search = "?source=Hi&scale=linear&view=heads";
  listeners.popstate();
  assert.deepEqual([store.get().link.options.scale, store.get().link.view], ["linear", "heads"]);
  assert.equal(calls.length, 3, "it says what is there already");
});

test("what a change of each key asks for is another trace, and of the place is not", () => {
  assert.deepEqual([...REQUEST_KEYS], ["source", "model", "direction", "target", "decode", "interventions", "pad_to", "chat", "pair"]);
  for (const key of REQUEST_KEYS) {
    const store = createStore({ ...DEFAULTS, source: "Hi" });
    store.set({ status: "ready" });
    store.go({ [key]: "other" });
    assert.equal(store.get().status, "waiting", key);
  }
});

test("merging leaves what is merged as it was", () => {
  const state = { ...DEFAULTS, options: { a: 1 } };
  const merged = mergeStates(state, { head: 3, options: { a: 2 } });
  assert.deepEqual([state.head, state.options, merged.head, merged.options], [0, { a: 1 }, 3, { a: 2 }]);
});

test("a long text is in the fragment, which no server is sent", () => {
  const source = `${"猫 & 🐱 #1=1? ".repeat(300)}.`;
  const state = { ...DEFAULTS, source, view: "lines", query: 4096 };
  const words = format(state);
  const [query, fragment] = words.split("#");
  assert.ok(query.length < 200 && !query.includes("source") && fragment.startsWith("source="));
  assert.deepEqual(mergeStates(DEFAULTS, parse(`?${words}`)), state);
  assert.ok(!format({ ...state, source: "a".repeat(2000) }).includes("#"));
  assert.equal(parse("?source=a#source=b").source, "a");
  assert.deepEqual(parse("?layer=1#view=lines&stage").view, undefined);
});
