/** The workspace as a page that can be presented. */

import { offeredKinds } from "../ask/question-kinds.js";
import { currentUrl, keepUnchanged } from "../core/store/address.js";
import { mergeStates, parse } from "../core/store/link.js";
import { splitOptions } from "../core/store/link-options.js";
import { find } from "../lib/dom.js";
import { OPTIONS, view } from "../views/index.js";
import { bindRoom } from "./room.js";

/** @import { State } from "../core/store/link.js" */
/** @import { PageServices } from "../workspace/main-figure.js" */

/** In the link of a room: its presenter has shown the answer of the question that the share asks first. */
const REVEALED = "revealed";
/** Letters of a sentence in one line. */
const LETTERS = 48;

/**
 * @param {PageServices} services
 * @param {State} initial  the state of an empty link
 * @param {import("../share/opened-share.js").ShareQuestion | null} question  that the share asks first
 */
export function bindWorkspaceRoom(services, initial, question) {
  const { store, t, format } = services;
  const path = pathOf(currentUrl(window));
  let presentedPath = path.startsWith("/room/") ? pathOf(find("#workspace").dataset.roomLink ?? "/") : path;

  /** @param {string} link */
  function stateOf(link) {
    const { search, hash } = new URL(link, currentUrl(window));
    const now = store.get().link;
    const [ownOptions] = splitOptions(now.options);
    return mergeStates(initial, parse(search + hash, OPTIONS), { lang: now.lang, options: ownOptions });
  }

  /** The view, layer and head of a link. @param {string} link */
  function placed(link) {
    const { view: id, layer, head } = stateOf(link);
    const place = t("layer {layer}, head {head}", { layer: layer + 1, head: head + 1 });
    return `${view(id).name(t)} · ${place}`;
  }

  /** @type {import("./room.js").Presentable} */
  const presented = {
    link() {
      const { link } = store.get();
      const [, options] = splitOptions(link.options);
      return `${presentedPath}?${format({ ...link, options })}${question?.isRevealed() ? `&${REVEALED}=1` : ""}`;
    },
    show(link) {
      if (pathOf(link) !== presentedPath) return false;
      store.go(keepUnchanged(store.get().link, stateOf(link)), "pushed");
      if (new URL(link, window.location.origin).searchParams.has(REVEALED)) question?.reveal();
      return true;
    },
    onChange(listener) {
      store.subscribe(({ link }) => link, (_, __, origin) => origin !== "pushed" && origin !== "answer" && listener());
      question?.onReveal(() => document.documentElement.dataset.room === undefined && listener());
    },
    says(link) {
      return pathOf(link) === presentedPath ? `${placed(link)} · ${shortened(stateOf(link).source)}` : t("another page");
    },
    place: placed,
    askable() {
      const { link, model } = store.get();
      const shareQuestion = question?.asks() ?? null;
      const offered = offeredKinds(link, model).filter((kind) => kind !== shareQuestion?.kind);
      return { own: shareQuestion, figure: format(link), questions: [...(shareQuestion ? [shareQuestion] : []), ...offered.map((kind) => ({ kind, link: format(link) }))] };
    },
    run: (source) => store.go({ source, target: null, direction: null, query: null, key: null }, "chosen"),
    pointer: store.hovered,
    point: (pointer) => store.hover(pointer),
    onPoint: (listener) => void store.watch(listener),
  };
  if (question) Object.assign(presented, { wording: question.wording, revealed: question.reveal });
  bindRoom(services, services.api, presented, find("#workspace"));
}

/** @param {string} text */
const shortened = (text) => (text.length > LETTERS ? `${text.slice(0, LETTERS).trimEnd()}…` : text);

/** @param {string} link */
const pathOf = (link) => new URL(link, window.location.origin).pathname;
