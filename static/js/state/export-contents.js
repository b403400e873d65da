/** What an export of the present view holds, and what its file is called. */

import { asked, request } from "../data/request.js";
import { blockAt } from "../data/attentions.js";
import { whole } from "../data/tensor-address.js";
import { isChanged } from "./interventions.js";
import { departed, held } from "./share-contents.js";
import { shownAs } from "./two-runs.js";
import { keyOf, ofThisRun, traced } from "./view-requests.js";
import { chosen } from "./link.js";

/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("./types.js").View} View */

/**
 * Whether what is shown belongs to no one head: the heatmap can show a layer's mean or maximum.
 * @param {import("./link.js").State} link
 */
export function pooled({ view, options }) {
  return view === "attention" && (options.pool ?? "one") !== "one";
}

/**
 * The tensors that a view's picture is made of, each whole: those that it needs, and those that it asks for.
 * @param {Page} page
 * @param {View} view
 * @returns {string[]}  names or patterns
 */
export function behind(page, view) {
  const asked = (view.asks?.(page) ?? []).flatMap((question) =>
    "trace" in question && ofThisRun(page, question) ? selected(question.trace) : [],
  );
  const needed = view.needs(page).flatMap((address) => whole(address) ?? []);
  const select = [...new Set([...needed, ...asked])];
  return select.length ? select : [`${blockAt(page).query}.position`];
}

/**
 * The tensors of a share, as far as it holds them.
 * @param {Page} page
 * @param {string[]} select
 */
export function frozen(page, select) {
  return held(page, traced(page, { select })) ?? page.trace;
}

/** @type {Record<"json" | "npz", string>} */
const FORMS = { json: "application/json", npz: "application/x-npz" };

/**
 * Where the server makes a file: the numbers in one of its forms, or a handout.
 * @param {Page} page
 * @param {View} view
 * @param {"json" | "npz" | "html"} kind
 * @param {{theme: "light" | "dark", options: import("./options.js").Options}} look  of the page
 * @returns {{path: string, body?: object, accept?: string}}
 */
export function made(page, view, kind, { theme, options }) {
  const { link, model } = page;
  const share = departed(page) ? null : page.share;
  const id = encodeURIComponent(share?.id ?? "");
  if (kind !== "html") {
    const accept = FORMS[kind];
    const subject = view.subject?.(page);
    if (subject) return { path: frozenPath(page, view) ?? subject.path, accept };
    if (share) return { path: `/api/shares/${id}`, accept };
    return { path: "/api/trace", accept, body: request(page.model, link, behind(page, view)) };
  }
  if (share)
    return { path: `/s/${id}/handout.html?${new URLSearchParams({ lang: link.lang, theme })}` };
  const { options: _, ...keys } = link;
  const said = Object.entries(keys).filter(([, value]) => value !== null);
  const state = asked(model, { ...Object.fromEntries(said), ...chosen(link, options) });
  return { path: `/api/handout?theme=${theme}`, body: { state } };
}

/**
 * Where a share keeps what its view shows in place of its run.
 * @param {Page} page
 * @param {View} view
 * @returns {string | null}
 */
function frozenPath({ share, ...page }, view) {
  const asked = (view.asks?.({ share, ...page }) ?? []).map(keyOf);
  const n = share?.asks.findIndex((question) => asked.includes(keyOf(question))) ?? -1;
  return share && n >= 0 ? `/api/shares/${encodeURIComponent(share.id)}/asks/${n}` : null;
}

/** @param {object} request @returns {string[]} */
const selected = (request) => /** @type {{select?: string[]}} */ (request).select ?? [];

/**
 * Of a changed machine it says so.
 * @param {Page} page
 * @param {View} view
 * @param {string} ending  e.g. "png"
 * @returns {string}  e.g. "headlight-en-zh-attention-cross-layer-2-head-3.png"
 */
export function nameOf(page, { id, frame, subject }, ending) {
  const { link, model } = page;
  const shown = subject?.(page);
  const rail = shown ? "both" : frame.rail;
  const layer = rail === "none" ? [] : ["layer", link.layer + 1];
  const head = rail !== "both" ? [] : pooled(link) ? [link.options.pool] : ["head", link.head + 1];
  const which = shown ? [shown.name] : isChanged(link) ? [shownAs(link) === "trained" ? "as-trained" : "changed"] : [];
  return `${["headlight", model?.id, id, link.block, ...layer, ...head, ...which].join("-")}.${ending}`;
}
