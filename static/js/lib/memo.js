/** Cache values computed from objects that never change, for as long as those objects live. */

/** @type {WeakMap<object, Map<string, any>>} */
const known = new WeakMap();
/** @type {WeakMap<object, WeakMap<object, object>>} */
const pairs = new WeakMap();

/**
 * @template T
 * @param {object} source  what the value is computed from
 * @param {string} name  distinguishes values computed from the same source
 * @param {() => T} work
 * @param {number} [most]  how many values of this source to keep, the most recently used; only for
 *   a source from which nothing else is computed
 * @returns {T}  the cached value: the same object every time
 */
export function memo(source, name, work, most = Infinity) {
  const found = known.get(source) ?? new Map();
  known.set(source, found);
  const value = found.has(name) ? found.get(name) : work();
  found.delete(name);
  found.set(name, value);
  if (found.size > most) found.delete(found.keys().next().value);
  return value;
}

/**
 * Return one source that stands for several objects in this order.
 * @param {object} first
 * @param {...object} others
 * @returns {object}  the same object for the same arguments
 */
export function together(first, ...others) {
  return others.reduce((source, other) => {
    const found = pairs.get(source) ?? new WeakMap();
    pairs.set(source, found);
    if (!found.has(other)) found.set(other, {});
    return /** @type {object} */ (found.get(other));
  }, first);
}
