/** The contents and the file name of an export of the current view. */

import { asked, request } from "../core/wire/request.js";
import { blockAt } from "../core/wire/attentions.js";
import { whole } from "../core/wire/tensor-address.js";
import { isChanged } from "../core/store/interventions.js";
import { beside, departed, held } from "../core/store/share-contents.js";
import { shownAs } from "../core/store/two-runs.js";
import { keyOf, ofThisRun, traced } from "../core/store/view-requests.js";
import { chosen } from "../core/store/link.js";

/** @import { Page } from "../core/store/store.js" */
/** @import { View } from "../core/figure/types.js" */

/**
 * Whether heads are pooled: the heatmap can show a layer's mean or maximum.
 * @param {import("../core/store/link.js").State} link
 */
export function pooled({ view, options }) {
  return view === "attention" && (options.pool ?? "one") !== "one";
}

/**
 * The complete tensors behind a view's picture: those that it needs, and those that it requests
 * separately.
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
 * The tensors that a share contains.
 * @param {Page} page
 * @param {string[]} select
 */
export function frozen(page, select) {
  return held(page, traced(page, { select })) ?? page.trace;
}

/** @type {Record<"json" | "npz", string>} */
const FORMS = { json: "application/json", npz: "application/x-npz" };

/**
 * The request for a file made by the server: the numbers in one of its formats, or a handout.
 * @param {Page} page
 * @param {View} view
 * @param {"json" | "npz" | "html"} kind
 * @param {{theme: "light" | "dark", options: import("../core/store/options.js").Options, tiles?: object[]}} look  of the
 *   page; tiles: the windows of a long text that it shows
 * @returns {{path: string, body?: object, accept?: string}}
 */
export function made(page, view, kind, { theme, options, tiles = [] }) {
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
  return { path: `/api/handout?theme=${theme}`, body: { state, asks: beside(page, view).asks, ...(tiles.length && { tiles }) } };
}

/**
 * The path of the frozen data that a share's view shows instead of its run.
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
 * The name of the file; for a changed model it says so.
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
