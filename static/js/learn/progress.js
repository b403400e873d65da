/** Which questions a reader has answered; stored only in the browser. */

const KEY = "lessons";

/** @returns {Record<string, number[]>}  numbers of questions, by lesson */
function read() {
  try {
    const found = JSON.parse(window.localStorage.getItem(KEY) ?? "{}");
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

/** @param {string} lesson @param {number} question */
export function answered(lesson, question) {
  const known = read();
  const all = [...new Set([...(known[lesson] ?? []), question])];
  try {
    window.localStorage.setItem(KEY, JSON.stringify({ ...known, [lesson]: all }));
  } catch {
    // Without storage, no progress is shown.
  }
}

/**
 * Show progress in the table of contents.
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 */
export function showProgress({ t }) {
  const known = read();
  for (const item of document.querySelectorAll("#lessons [data-lesson]")) {
    const { lesson = "", questions = "0" } = /** @type {HTMLElement} */ (item).dataset;
    const done = Array.isArray(known[lesson]) ? Math.min(known[lesson].length, Number(questions)) : 0;
    const says = item.querySelector(".done");
    if (says && done) says.textContent = ` · ${t("{done} of {all} predictions made", { done, all: questions })}`;
  }
}
