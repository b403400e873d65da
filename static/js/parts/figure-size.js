/** The room that a figure has: measured when its element or what it shows changes, and not more often. */

/** @typedef {import("../state/types.js").Measure} Measure */
/** @typedef {ReturnType<typeof createRoom>} RoomOf */

/** Pixels from which on things stand side by side, and those that a figure is high at least and at most. */
const [WIDE, LEAST, MOST] = [600, 300, 620];

/** @type {Measure}  As wide as the element, and so high that it is seen at once. */
const own = (element) => {
  const width = Math.floor(element.getBoundingClientRect().width);
  return { width, height: Math.min(Math.max(width * 0.7, LEAST), MOST), wide: width >= WIDE };
};

/**
 * Asking where something lies makes the browser lay the page out at once: it is asked once a change.
 * @param {HTMLElement} element
 * @param {Measure} [measure]
 */
export function createRoom(element, measure = own) {
  let now = measure(element);
  /** What was drawn for. */
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

  /** What stands above has moved it. A phone's window grows and shrinks as one scrolls: its width counts alone. */
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
