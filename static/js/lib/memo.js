/** Remembers what was worked out of something that never changes, for as long as that lives. */

/** @type {WeakMap<object, Map<string, any>>} */
const known = new WeakMap();

/**
 * @template T
 * @param {object} source  what it is worked out of
 * @param {string} name  tells one thing worked out of it from another
 * @param {() => T} work
 * @returns {T}  the same object every time
 */
export function memo(source, name, work) {
  const found = known.get(source) ?? new Map();
  if (!found.has(name)) found.set(name, work());
  known.set(source, found);
  return found.get(name);
}
