import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULTS, bind, format, parse } from "../../static/js/url.js";
import { createStore } from "../../static/js/store.js";

/** @param {Partial<import("../../static/js/url.js").State>} patch */
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
    view: "qkv",
    block: /** @type {const} */ ("cross"),
    layer: 2,
    head: 7,
    query: 0,
    key: 4,
    lang: "zh",
  };
  assert.deepEqual(round(state), state);
});

test("a link says its place even where that is the default, and nothing that is not set", () => {
  const search = format({ ...DEFAULTS, source: "Hi" });
  assert.equal(search, "source=Hi&view=attention&block=encoder&layer=0&head=0&lang=en");
});

test("what cannot be read is left out", () => {
  assert.deepEqual(
    parse("?block=sideways&layer=-1&head=1e3&query=x&interventions={&unknown=1"),
    {},
  );
});

/** A window as far as url.js looks at one. */
function fakeWindow() {
  /** @type {[string, string][]} */
  const calls = [];
  /** @type {Record<string, () => void>} */
  const listeners = {};
  const record =
    (/** @type {string} */ how) =>
    (/** @type {unknown} */ _, /** @type {string} */ __, /** @type {string} */ url) =>
      calls.push([how, url]);
  const window = {
    location: { search: "" },
    history: { pushState: record("push"), replaceState: record("replace") },
    addEventListener: (/** @type {string} */ name, /** @type {() => void} */ listener) =>
      (listeners[name] = listener),
  };
  return { window: /** @type {any} */ (window), calls, listeners };
}

test("the address bar follows: replaced while typing, pushed on a pin, left alone on back", () => {
  const { window, calls, listeners } = fakeWindow();
  const store = createStore({ ...DEFAULTS, source: "Hi" });
  bind(window, store, { ...DEFAULTS });
  store.go({ source: "Hi you" });
  store.go({ query: 2, key: 1 }, "push");
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
