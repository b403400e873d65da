/**
 * A figure: a view in any element, with its own store and a source of the view's data. A page can
 * have several: all ids are unique, and `destroy` removes all listeners. This file is beside the
 * index of the views, which it opens by name; what surrounds a figure is in workspace/.
 */

import { bindSession } from "../core/store/trace-requests.js";
import { DEFAULTS, createSettler } from "../core/store/link.js";
import { initialChoices } from "../core/store/link-options.js";
import { isFixed } from "../core/store/share-contents.js";
import { missingAddresses, valueAt } from "../core/wire/tensor-cache.js";
import { keyOf } from "../core/store/view-requests.js";
import { isLong } from "../core/wire/long-texts.js";
import { thumbnailWeights } from "../core/compute/computed-tensors.js";
import { createStore } from "../core/store/store.js";
import { otherRunPage, storeOf as storeOfRun } from "../core/store/runs-with-and-without-changes.js";
import { bindCaption, createKeys, createRoom, showScale } from "../core/figure/figure-frame.js";
import { bindStatus } from "../core/figure/figure-status.js";
import { h } from "../lib/dom.js";
import { createRunPair } from "./side-by-side.js";
import { OPTIONS, nearestView, offered, view } from "./index.js";

/** @import { Page } from "../core/store/store.js" */
/** @import { View, Context } from "../core/figure/types.js" */
/**
 * @typedef {object} Plan
 * @property {HTMLElement} root  its container, emptied when it is destroyed
 * @property {import("../core/store/store.js").Store} store
 * @property {import("../core/store/data-sources.js").Source} source
 * @property {import("../core/figure/types.js").PageContext} page
 * @property {string} [view]  the initial view; absent: that of the store's link
 * @property {string} [name]  prefix of its ids; absent: a unique one
 * @property {boolean} [main]  whether keys pressed outside all figures are for it
 * @property {boolean} [free]  whether its first trace may determine the layer and the head
 * @property {import("../core/store/trace-requests.js").DataNeeds} [beside]  what else is shown of its run
 * @property {import("../core/figure/types.js").Offer} [offer]  absent: the views that the model supports
 * @property {import("../core/figure/types.js").Measure} [measure]  measures the available space
 * @property {HTMLElement} [caption]  for the caption
 * @property {HTMLElement} [legend]  for the colour scale
 * @property {import("../core/figure/figure-status.js").Places} [status]  absent: it shows its status itself
 * @property {(view: View) => void} [onView]  called with another view before it is drawn
 */
/** @typedef {ReturnType<typeof createFigure>} Figure */

let figureCount = 0;

/**
 * @param {Partial<import("../core/store/link.js").State>} [partialLink]
 * @returns {import("../core/store/link.js").State}  the full state of a partial link
 */
export const linkTo = (partialLink = {}) => ({ ...DEFAULTS, options: initialChoices(OPTIONS), ...partialLink });

/**
 * A store for a figure.
 * @param {import("../core/store/link.js").State} link
 * @param {import("../core/figure/types.js").Offer} [offer]  the views to offer; absent: all that the
 *   model supports
 */
export const storeOf = (link, offer = offered) => createStore(link, createSettler(view, nearestView(offer)));

/** @param {Plan} plan */
export function createFigure(plan) {
  const { root, store, source, page, beside = NOTHING, offer = offered, caption, legend } = plan;
  if (plan.view) store.go({ view: plan.view });
  const session = bindSession(store, source, { ...neededData(beside, offer), pairs: () => pair.fits() }, plan);
  const room = createRoom(root, plan.measure);
  const context = contextOf(plan, room);
  const pair = createRunPair(context, root, room, (overrides, place) => mountTwin({ ...plan, ...overrides }, place));
  const inner = { ...context, store: storeOfRun(store, () => (pair.on() ? "changed" : pair.alone()), () => (pair.on() ? "changed" : null)) };
  /** @param {View} shown */
  function scale({ frame }) {
    if (legend) showScale(context, legend, typeof frame.legend === "function" ? frame.legend(store.get()) : frame.legend);
  }
  const stand = createStand(inner, root, (nextView) => {
    plan.onView?.(nextView);
    scale(nextView);
    room.again();
  });
  const ends = [
    session.stop,
    caption ? bindCaption(context, caption, ({ link }) => view(link.view).frame.caption, () => !stand.view().frame.tells) : () => {},
    // Measure after the caption is filled and before the view is drawn. For another view, measure
    // after everything around it has changed.
    store.subscribe(({ trace, link }) => [trace, link.options], room.again),
    store.subscribe(({ trace, link }) => [trace, link.options], () => scale(stand.view())),
    store.subscribe((page) => page, pair.follow),
    room.onWidth(() => (pair.follow(), stand.draw())),
    inner.store.subscribe((page) => [...drawn(page), pair.on(), pair.alone()], stand.draw),
    inner.store.subscribe(pointed, stand.light),
    store.watch(stand.light),
    page.onTheme(() => {
      room.again(); // sizes may have changed too
      scale(stand.view());
      stand.draw();
    }),
    context.keys.listen(({ key }) => key === "Escape" && clearPin(context)),
    store.subscribe(({ link }) => link.query, (now, was) => isUnpinned(now, was) && page.announce(page.t("Unpinned."))),
    bindStatus(context, session.retry, plan.status ?? { root }, lacks),
    stand.clear,
    pair.end,
    room.stop,
    context.keys.release,
  ];

  return {
    context,
    run: session.run,
    retry: session.retry,
    /** Stop a long run. */
    halt: session.halt,
    /** The views that are offered. */
    offer: () => offer(store.get()),
    /** What is mounted, with its picture and numbers; for a pair, both pictures. */
    shown: () => pair.shown(stand.mounted()),
    /** Call a listener when both runs of a changed model start or stop being shown side by side. */
    onPair: pair.listen,
    pairs: pair.on,
    /** To be called if the available space changes but the element itself does not. */
    resize: room.moved,
    /** Remove it from the page with all listeners. */
    destroy: () => ends.splice(0).forEach((end) => end()),
  };
}

const NOTHING = { needs: () => [], asks: () => [] };

/**
 * What is requested: what is shown beside the view, then what the view shows.
 * @param {import("../core/store/trace-requests.js").DataNeeds} beside
 * @param {import("../core/figure/types.js").Offer} offer
 * @returns {import("../core/store/trace-requests.js").DataNeeds}
 */
const neededData = (beside, offer) => ({
  needs: (page) => (isLong(page.trace) ? needsOf(page) : [...beside.needs(page), ...needsOf(page)]),
  // For a changed model, request the view's questions for both runs, so that switching needs no
  // request.
  asks: (page) => [page, otherRunPage(page)].flatMap((run) => (run && !isLong(run.trace) ? [...beside.asks(run), ...(view(run.link.view).asks?.(run) ?? [])] : [])),
  viewOf: view,
  flips: ({ link }) => !view(link.view).frame.compares && !view(link.view).subject,
  opens: nearestView(offer),
});

/** What a view shows of a run: of a long text the thumbnails of all heads. @param {Page} page */
const needsOf = (page) => (isLong(page.trace) ? thumbnailWeights(page.model, page.link.block) : view(page.link.view).needs(page));

/** @param {Plan} plan @param {import("../core/figure/figure-frame.js").RoomOf} room @returns {Context} */
function contextOf({ root, store, source, page, caption, offer = offered, main = false, name = `figure-${++figureCount}` }, { now }) {
  const { plotter, t, phrase, announce, theme } = page;
  const uniqueId = (/** @type {string} */ word) => (name ? `${name}-${word}` : word);
  const finding = () => placeFor(caption);
  const offers = (/** @type {string} */ id) => offer(store.get()).some((candidate) => candidate.id === id);
  return { store, source, plotter, t, phrase, announce, theme, room: now, finding, offers, uniqueId, keys: createKeys(root, main) };
}

/**
 * Where a view shows its summary: in the figure's caption or, without one, in the view.
 * @param {HTMLElement} [caption]
 */
function placeFor(caption) {
  if (caption) {
    caption.replaceChildren();
    return { line: caption, inner: /** @type {const} */ ("") };
  }
  const line = h("p", { className: "finding" });
  return { line, inner: line };
}

/**
 * The same view of the other run, shown beside it.
 * @param {Plan} plan
 * @param {HTMLElement} root
 */
function mountTwin(plan, root) {
  const { store, page } = plan;
  const room = createRoom(root, plan.measure);
  const context = contextOf({ ...plan, root, caption: h("p") }, room);
  const stand = createStand(context, root, room.again);
  const ends = [
    store.subscribe(({ trace, link }) => [trace, link.options], room.again),
    room.onWidth(stand.draw),
    store.subscribe(drawn, stand.draw),
    store.subscribe(pointed, stand.light),
    store.watch(stand.light),
    page.onTheme(() => (room.again(), stand.draw())),
    stand.clear,
    room.stop,
    context.keys.release,
  ];
  stand.draw();
  return { shown: stand.mounted, again: () => (room.moved(), stand.draw()), end: () => ends.splice(0).forEach((end) => end()) };
}

/**
 * The open view, in its element.
 * @param {Context} context
 * @param {HTMLElement} root
 * @param {(view: View) => void} onView
 */
function createStand(context, root, onView) {
  let current = view(context.store.get().link.view);

  function mount() {
    root.dataset.view = current.id;
    onView(current);
    return current.mount(context, root);
  }

  /** Whether it has been taken off the page: a change that is being delivered may still reach it. */
  let cleared = false;

  function clear() {
    cleared = true;
    mounted.destroy();
    root.replaceChildren();
    root.classList.remove("view");
    delete root.dataset.view;
  }

  root.classList.add("view");
  let mounted = mount();

  return {
    view: () => current,
    mounted: () => mounted,
    draw() {
      if (cleared) return;
      const next = view(context.store.get().link.view);
      if (next !== current) {
        mounted.destroy();
        root.replaceChildren();
        current = next;
        mounted = mount();
      }
      mounted.draw();
    },
    light: () => {
      if (!cleared) mounted.light();
    },
    clear,
  };
}

/**
 * Whether the view still shows less than it needs, or what it showed before. What a share without its
 * model lacks does not come.
 * @param {Page} page
 */
function lacks(page) {
  const { trace, link, answers } = page;
  if (!trace || isFixed(page)) return false;
  const questions = isLong(trace) ? [] : (view(link.view).asks?.(page) ?? []);
  return missingAddresses(trace, needsOf(page)).length > 0 || questions.some((question) => !answers[keyOf(question)]);
}

/**
 * What a view depends on: the place in the run, the tensors that it needs, and its answers. Other
 * tensors of the same run do not cause a redraw.
 * @param {Page} page
 */
function drawn(page) {
  const { link, trace, model, answers, status, problem } = page;
  const { view: id, block, layer, head, options } = link;
  const { asks = () => [] } = view(id);
  const needed = trace ? needsOf(page).map((address) => valueAt(trace, address)) : [];
  const replies = trace && !isLong(trace) ? asks(page).map((question) => answers[keyOf(question)]) : [];
  const lacks = status === "ready" && problem;
  return [trace?.id, model, lacks, id, block, layer, head, options, ...needed, ...replies];
}

/** What changes highlights without a redraw. @param {Page} page */
function pointed({ link: { view: _view, block: _block, layer: _layer, head: _head, options: _options, ...highlightState } }) {
  return Object.values(highlightState);
}

/** @param {Context} context */
function clearPin({ store }) {
  store.hover(null);
  store.go({ query: null, key: null });
}

/**
 * Whether a reader unpinned the cell, by a key, a button or a second click. Another sentence or
 * attention unpins too, and announces itself.
 * @param {Page} now
 * @param {Page} was
 */
const isUnpinned = (now, was) =>
  now.link.query === null && was.link.query !== null && now.trace === was.trace && now.link.block === was.link.block;
