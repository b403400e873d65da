/** The figures of a page that are created so far: what each shows, as a link that can be changed. */

/** @typedef {ReturnType<typeof createLiveFigures>} LiveFigures */
/** @import { Asks } from "../room/types.js" */
/**
 * @typedef {object} Live
 * @property {() => string} shows  the query string of what it shows; "": what it began with
 * @property {(link: string) => boolean} go  show such a query string; false: it is not one of this
 *   figure, and nothing has changed
 * @property {(listener: () => void) => void} onChange  call a listener when the reader changes it
 * @property {() => Asks[]} questions  what can be asked about what it shows
 * @property {import("../core/figure/pointing.js").Pointing} [pointing]  absent: nothing in it can be pointed at
 */

export function createLiveFigures() {
  /** @type {Map<Element, Live>} */
  const known = new Map();
  /** @typedef {Set<(figure: Element) => void>} Listeners */
  const [arrivals, changes] = [/** @type {Listeners} */ (new Set()), /** @type {Listeners} */ (new Set())];
  /** @type {Set<() => void>} */
  const points = new Set();
  /** The figure that the pointer is in. @type {Element | null} */
  let under = null;
  return {
    /** @param {Element} figure @param {Live} live */
    arrived(figure, live) {
      known.set(figure, live);
      live.onChange(() => changes.forEach((listener) => listener(figure)));
      live.pointing?.listen(() => {
        if (live.pointing?.at()) under = figure;
        else if (under === figure) under = null;
        points.forEach((listener) => listener());
      });
      arrivals.forEach((listener) => listener(figure));
    },
    /** @param {Element | null} figure */
    of: (figure) => (figure && known.get(figure)) ?? null,
    /** @param {(figure: Element) => void} listener */
    onArrive: (listener) => void arrivals.add(listener),
    /** @param {(figure: Element) => void} listener */
    onChange: (listener) => void changes.add(listener),
    /** What is pointed at, and in which figure. */
    pointed() {
      const lit = under && known.get(under)?.pointing?.at();
      return under && lit ? { figure: under, lit } : null;
    },
    /** @param {() => void} listener */
    onPoint: (listener) => void points.add(listener),
  };
}
