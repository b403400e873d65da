/** What was presented in a room, as the items of a collection. */

/** @typedef {{seq: number, at: number, link: string}} Shown  at: in seconds */

/** The most items of a collection. */
const MOST = 50;
const HOME = "http://room";
/** What a field of a formula may hold in a link of a collection (app/answers/figure_states.py). */
const NUMBER = /^[\d,. ]{1,20}$/;

/**
 * The links that were presented, without those between: of the links in a row that show the same
 * text or the same figure, the one that was on the screen for the longest time. If there are more
 * than a collection can have, the ones that were shown for the longest time.
 * @param {Shown[]} states  in order
 * @param {Record<string, string[]>} collections  the links of the items of presented collections
 * @returns {{link: string, at: number}[]}  at: seconds since the beginning
 */
export function recorded(states, collections = {}) {
  /** @type {{key: string, link: string, at: number, seconds: number}[]} */
  const found = [];
  states.forEach(({ link, at }, i) => {
    const item = itemOf(link, collections);
    if (!item) return;
    const seconds = (states[i + 1]?.at ?? Infinity) - at;
    const last = found.at(-1);
    const since = at - states[0].at;
    if (last?.key !== item.key) found.push({ ...item, at: since, seconds });
    else if (seconds >= last.seconds) Object.assign(last, { ...item, seconds });
  });
  const longest = new Set([...found].sort((a, b) => b.seconds - a.seconds).slice(0, MOST));
  return found.filter((one) => longest.has(one)).map(({ link, at }) => ({ link, at }));
}

/**
 * A presented link as an item of a collection, with what it is about; null: it cannot be one.
 * @param {string} link
 * @param {Record<string, string[]>} collections
 * @returns {{key: string, link: string} | null}
 */
function itemOf(link, collections) {
  const { pathname, searchParams, hash, search } = new URL(link, HOME);
  const shows = searchParams.get("shows");
  const state = new URLSearchParams(shows ?? "");
  // What the workspace or the lab can show is an item of its own.
  const own = shows && itemOf(`${state.has("x") ? "/lab" : "/"}?${shows}`, collections);
  if (own) return own;
  const [, kind, id] = pathname.split("/");
  if (kind === "learn") {
    // Others stay in the lesson: a formula, unless a number is half typed, and models of the zoo. A
    // run is deleted later.
    const fits = shows && !state.has("run") && [...state].every(([name, value]) => !name.startsWith("f_") || NUMBER.test(value));
    const kept = fits ? `?${new URLSearchParams({ shows })}` : "";
    return { key: pathname + hash, link: pathname + (hash.startsWith("#figure-") ? kept + hash : "") };
  }
  if (kind === "c") {
    const item = collections[id]?.[Number(hash.replace("#item-", "")) - 1];
    return item ? itemOf(item, {}) : null;
  }
  if (kind === "s") return { key: pathname, link };
  if (kind === "lab") return searchParams.has("x") ? { key: `/lab ${searchParams.get("tokens")}`, link } : null;
  const text = searchParams.get("source") ?? new URLSearchParams(hash.slice(1)).get("source");
  return text ? { key: `/ ${text}`, link: pathname + search + hash } : null;
}
