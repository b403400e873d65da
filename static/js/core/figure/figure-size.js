/** The available space of a figure, measured only when its element or its contents change. */

/** @import { Measure } from "./types.js" */
/** @typedef {ReturnType<typeof createRoom>} RoomOf */

/**
 * In pixels: the width from which parts are side by side, and the smallest and largest height of a
 * figure.
 */
const [WIDE, LEAST, MOST] = [600, 300, 620];

/** @type {Measure}  As wide as the element, and so high that it is seen at once. */
const own = (element) => {
  const width = Math.floor(element.getBoundingClientRect().width);
  return { width, height: Math.min(Math.max(width * 0.7, LEAST), MOST), wide: width >= WIDE };
};

/**
 * Measuring forces a layout, so it is done once per change.
 * @param {HTMLElement} element
 * @param {Measure} [measure]
 */
export function createRoom(element, measure = own) {
  let now = measure(element);
  /** The size used for the last drawing. */
  let used = now;
  /** @type {() => void} */
  let tell = () => {};

  function redraw() {
    used = now;
    tell();
  }

  function look() {
    const { width } = now;
    now = measure(element);
    if (now.width !== width) redraw();
  }

  /**
   * Something above has moved the figure. On phones the window's height changes while scrolling, so
   * only the width counts.
   */
  function moved() {
    now = measure(element);
    if (now.width !== used.width || (now.wide && now.height !== used.height)) redraw();
  }

  const observer = new ResizeObserver(look);
  observer.observe(element);
  const again = () => void (used = now = measure(element));
  return {
    now: () => now,
    moved,
    again,
    /** @param {() => void} listener @returns {() => void}  stops it */
    onWidth(listener) {
      tell = listener;
      return () => void (tell = () => {});
    },
    stop: () => observer.disconnect(),
  };
}
