/** Types of what can be presented in a room. */

/**
 * A question as a room is asked it: plain data. `scene` is the id of a lesson's question, which a
 * page with that lesson words itself; `words` are for all others.
 * @typedef {import("../ask/question.js").Question & {scene?: string}} Asks
 */
/**
 * @typedef {object} Askable
 * @property {Asks | null} [own]  the question that is on the screen, if there is one
 * @property {Asks[]} questions  about what is on the screen
 * @property {(ask: (question: Asks) => void) => HTMLElement | null} [form]  makes a form for more
 */
/**
 * A page that can be presented: its link can be read and changed.
 * @typedef {object} Presentable
 * @property {() => string} link  path, query and fragment of what is on the screen
 * @property {(link: string) => boolean} show  show a link; false: it is of another page
 * @property {(link: string) => void} [resume]  go on with what the room had when this page was loaded
 * @property {(listener: () => void) => void} onChange  call a listener when the reader changes what
 *   is on the screen
 * @property {(link: string) => string} says  what a link shows, in one line
 * @property {() => Askable} askable  what can be asked
 * @property {(scene: string) => {words: Node[], why: Node[]} | null} [wording]  a question of this
 *   page in the reader's language, and what can be learnt from its answer; null: it is of another
 * @property {(source: string) => void} [run]  run a sentence
 * @property {() => import("../core/wire/subject-requests.js").Pointer | null} [pointer]  what the reader points at
 * @property {(pointer: import("../core/wire/subject-requests.js").Pointer | null) => void} [point]
 * @property {(listener: () => void) => void} [onPoint]
 */

export {};
