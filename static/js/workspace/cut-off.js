/** A sign where the content of a scrolled element goes on beyond its edge. */

/**
 * Keep the attributes `data-before` and `data-after`: whether there is more on that side.
 * @param {HTMLElement} element
 * @param {"x" | "y"} axis
 * @returns {() => void}  to be called when the content has changed
 */
export function markCutOff(element, axis) {
  function show() {
    const { scrollLeft, clientWidth, scrollWidth, scrollTop, clientHeight, scrollHeight } = element;
    const [at, room, size] = axis === "x" ? [scrollLeft, clientWidth, scrollWidth] : [scrollTop, clientHeight, scrollHeight];
    element.toggleAttribute("data-before", at > 1);
    element.toggleAttribute("data-after", at + room < size - 1);
  }
  element.addEventListener("scroll", show, { passive: true });
  new ResizeObserver(show).observe(element);
  return show;
}

/**
 * Scroll a list sideways, and nothing around it, until one of its elements is seen.
 * @param {HTMLElement} list
 * @param {HTMLElement} one
 */
export function reveal(list, one) {
  const [outer, inner] = [list.getBoundingClientRect(), one.getBoundingClientRect()];
  if (inner.left < outer.left || inner.right > outer.right) list.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
}
