/** Create elements when they come into view, one after the other. */

const MARGIN = "240px 0px";

/**
 * @param {Iterable<HTMLElement>} elements
 * @param {(element: HTMLElement) => Promise<unknown>} make
 */
export function inSight(elements, make) {
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        last = last.then(() => make(/** @type {HTMLElement} */ (target))).catch(reportError); // the next is made nevertheless
      }
    },
    { rootMargin: MARGIN },
  );
  for (const element of elements) observer.observe(element);
}
