/** The page's link: a run and a step of it, or the chosen options. */

/** @import { State } from "../core/store/link.js" */

/** Keys of the figure, and whether each is a number. @type {Record<string, boolean>} */
const FIGURE = { view: false, block: false, layer: true, head: true, query: true, key: true };

/** @param {string | null} text */
const whole = (text) => (text !== null && /^\d{1,7}$/.test(text) ? Number(text) : null);

/**
 * @param {string} query
 * @returns {{run: string | null, step: number | null, probe: number, options: Record<string, string>, figure: Partial<State>}}
 */
export function parse(query) {
  const parameters = new URLSearchParams(query);
  const figure = Object.entries(FIGURE).flatMap(([key, number]) => {
    const value = number ? whole(parameters.get(key)) : parameters.get(key);
    return value === null ? [] : [[key, value]];
  });
  const pageKeys = new Set([...Object.keys(FIGURE), "run", "step", "probe", "lang"]);
  return {
    run: parameters.get("run"),
    step: whole(parameters.get("step")),
    probe: whole(parameters.get("probe")) ?? 0,
    options: Object.fromEntries([...parameters].filter(([key]) => !pageKeys.has(key))),
    figure: Object.fromEntries(figure),
  };
}

/**
 * @param {object} state
 * @param {{id: string} | null} state.run
 * @param {number | null} state.step  null: the last
 * @param {number} state.probe
 * @param {Record<string, string | number | null>} state.options  those that differ from the
 *   defaults
 * @param {State} state.link  of the figure
 */
export function format({ run, step, probe, options, link }) {
  const parameters = new URLSearchParams();
  const put = (/** @type {string} */ key, /** @type {unknown} */ value) => {
    if (value !== null && value !== undefined && value !== "") parameters.set(key, String(value));
  };
  if (!run) {
    Object.entries(options).forEach(([key, value]) => put(key, value));
    return parameters.toString();
  }
  put("run", run.id);
  put("step", step);
  if (probe) put("probe", probe);
  for (const key of Object.keys(FIGURE)) put(key, link[/** @type {keyof State} */ (key)]);
  return parameters.toString();
}
