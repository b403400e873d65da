/** Remembers what was worked out of objects that never change, for as long as these live. */

/** @type {WeakMap<object, Map<string, any>>} */
const known = new WeakMap();
/** @type {WeakMap<object, WeakMap<object, object>>} */
const pairs = new WeakMap();

/**
 * @template T
 * @param {object} source  what it is worked out of
 * @param {string} name  tells one thing worked out of it from another
 * @param {() => T} work
 * @param {number} [most]  how many of the source are kept, those asked for last; of a source that
 *   nothing else is worked out of
 * @returns {T}  the same object every time
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
 * A source that stands for several objects in this order.
 * @param {object} first
 * @param {...object} others
 * @returns {object}  the same one for the same objects
 */
export function together(first, ...others) {
  return others.reduce((source, other) => {
    const found = pairs.get(source) ?? new WeakMap();
    pairs.set(source, found);
    if (!found.has(other)) found.set(other, {});
    return /** @type {object} */ (found.get(other));
  }, first);
}
