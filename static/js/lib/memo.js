/** Cache values computed from objects that never change, for as long as those objects live. */

/** @type {WeakMap<object, Map<string, any>>} */
const caches = new WeakMap();
/** @type {WeakMap<object, WeakMap<object, object>>} */
const pairs = new WeakMap();

/**
 * @template T
 * @param {object} source  what the value is computed from
 * @param {string} name  distinguishes values computed from the same source
 * @param {() => T} work
 * @param {number} [capacity]  how many values of this source to keep, the most recently used; only for
 *   a source from which nothing else is computed
 * @returns {T}  the cached value: the same object every time
 */
export function memo(source, name, work, capacity = Infinity) {
  const cache = caches.get(source) ?? new Map();
  caches.set(source, cache);
  const value = cache.has(name) ? cache.get(name) : work();
  cache.delete(name);
  cache.set(name, value);
  if (cache.size > capacity) cache.delete(cache.keys().next().value);
  return value;
}

/**
 * Return one source that stands for several objects in this order.
 * @param {object} first
 * @param {...object} sources
 * @returns {object}  the same object for the same arguments
 */
export function together(first, ...sources) {
  return sources.reduce((source, nextSource) => {
    const partners = pairs.get(source) ?? new WeakMap();
    pairs.set(source, partners);
    if (!partners.has(nextSource)) partners.set(nextSource, {});
    return /** @type {object} */ (partners.get(nextSource));
  }, first);
}
