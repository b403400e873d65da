/**
 * A changed model beside the model as trained: if there is room, the same view is shown twice. The
 * page describes the run that the link selects.
 */

import { isChanged, isOff } from "../core/store/interventions.js";
import { otherRunPage, runKind, storeOf } from "../core/store/runs-with-and-without-changes.js";
import { abreast } from "../core/draw/export-picture.js";
import { file } from "../core/draw/svg.js";
import { h, write } from "../lib/dom.js";
import { view } from "./index.js";

/** @import { Context, Mounted, Picture } from "../core/figure/types.js" */
/** @typedef {{shown: () => Mounted, again: () => void, end: () => void}} Twin */

/** The gap between them, in pixels. */
const GAP = 28;

/**
 * @param {Context} context
 * @param {HTMLElement} root  the container of the view; it is wrapped in a frame
 * @param {import("../core/figure/figure-frame.js").RoomOf} room  measures the root
 * @param {(own: {store: Context["store"], name: string}, root: HTMLElement) => Twin} stand  mounts
 *   the view with another store
 */
export function createRunPair({ store, t, theme }, root, room, stand) {
  const place = h("div", { className: "view twin" });
  const titles = { trained: h("h3", {}, t("As trained")), changed: h("h3", {}, t("Changed")) };
  const trained = h("section", { className: "run", "data-as": "trained" }, titles.trained, place);
  const changed = h("section", { className: "run", "data-as": "changed" }, titles.changed);
  const frame = h("div", { className: "runs" }, changed);
  root.replaceWith(frame);
  changed.append(root);
  /** @type {Twin | null} */
  let twin = null;
  /** @type {Set<() => void>} */
  const listeners = new Set();

  /** Whether there is room for both runs of a changed model. */
  function fits() {
    const { link } = store.get();
    const { twice } = view(link.view).frame;
    if (!twice || !isChanged(link) || isRemoved(store.get())) return false;
    const width = twin ? frame.getBoundingClientRect().width : room.now().width;
    return width >= 2 * twice + GAP;
  }

  const isNeeded = () => fits() && otherRunPage(store.get()) !== null;

  function turn() {
    frame.classList.toggle("pair", !twin);
    if (twin) {
      twin.end();
      twin = null;
      trained.remove();
    } else {
      frame.prepend(trained);
      twin = stand({ store: storeOf(store, () => "trained"), name: "trained" }, place);
    }
    room.again();
    listeners.forEach((listener) => listener());
  }

  return {
    on: () => twin !== null,

    /**
     * Whose run the only figure shows. Of a head that is off that is the run as trained, as what is gone: the changed one has
     * nothing to show.
     */
    alone: () => (isRemoved(store.get()) ? "trained" : null),
    fits,

    /** Show or remove the second view, depending on the page and the available space. */
    follow() {
      if (isNeeded() !== (twin !== null)) turn();
      const removed = isRemoved(store.get());
      frame.classList.toggle("removed", removed);
      if (removed) write(titles.changed, t("Removed by the change: this head’s weights as trained, now 0"));
      else write(titles.changed, t("Changed"));
      if (!twin) return;
      const page = store.get();
      const chosen = runKind(page.link);
      for (const as of /** @type {const} */ (["trained", "changed"])) titles[as].toggleAttribute("data-chosen", as === chosen);
      place.dataset.status = (chosen === "trained" ? page : otherRunPage(page))?.status ?? "waiting";
    },

    /** @param {Mounted} mounted @returns {Mounted}  with the pictures of both, where both are there */
    shown(mounted) {
      const beside = twin?.shown();
      if (!beside) return mounted;
      const picture = () => sideBySide([
        { title: t("As trained"), picture: beside.picture?.() ?? null },
        { title: t("Changed"), picture: mounted.picture?.() ?? null },
      ], theme());
      return { ...mounted, picture };
    },

    /** @param {() => void} listener */
    listen: (listener) => void listeners.add(listener),

    end() {
      twin?.end();
      frame.replaceWith(root);
    },
  };
}

/**
 * Whether a view of a single head shows a head that is switched off, and the run as trained is known.
 * @param {import("../core/store/store.js").Page} page
 */
function isRemoved(page) {
  const { link } = page;
  const { inspector, rail } = view(link.view).frame;
  return inspector && rail === "both" && link.options.pool === "one" && isOff(page) && otherRunPage(page)?.status === "ready";
}

/**
 * @param {{title: string, picture: Picture | null}[]} parts
 * @param {import("../core/page/page-context.js").Theme} theme
 * @returns {Picture | null}
 */
function sideBySide(parts, theme) {
  const drawn = parts.flatMap(({ title, picture }) => (picture ? [{ title, svg: parsed(picture.svg) }] : []));
  return drawn.length ? { svg: file(abreast(drawn, theme), theme) } : null;
}

/** @param {string} svg @returns {any} */
const parsed = (svg) => new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
