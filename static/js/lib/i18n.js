/**
 * The browser's half of the one gettext catalog. The English text is the key; what a catalog lacks
 * is said in English.
 */

/** @typedef {Record<string, string | string[]>} Messages */
/** @typedef {string | number | undefined} Value */
/** @typedef {(message: string, values?: Record<string, string | number>) => string} Translate */
/** @typedef {<V = never>(message: string, values?: Record<string, V | Value>) => (string | Exclude<V, Value>)[]} Say */

/**
 * `t` says a message as text. `say` fills places with elements; it takes what `t` returned, in
 * which places without a value still stand open.
 * @param {Messages} messages
 * @returns {{t: Translate, say: Say}}
 */
export function translator(messages) {
  const say = /** @type {Say} */ ((/** @type {string} */ message, /** @type {Record<string, any>} */ values = {}) =>
    parts(message).map((part) => {
      if ("text" in part) return part.text;
      const value = values[part.name] ?? `{${part.name}}`;
      return typeof value === "number" ? String(value) : value;
    }));
  /** @type {Translate} */
  const t = (message, values) => {
    const found = messages[message];
    const text = (Array.isArray(found) ? found[0] : found) || message;
    return say(text, values).join("");
  };
  return { t, say };
}

/**
 * Cuts a message at its `{places}`.
 * @param {string} message
 * @returns {({text: string} | {name: string})[]}
 */
export function parts(message) {
  return message
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((piece) => (/^\{\w+\}$/.test(piece) ? { name: piece.slice(1, -1) } : { text: piece }));
}

/**
 * Sentences one after the other; a full-width stop brings its own space.
 * @param {string[]} sentences
 */
export const prose = (sentences) =>
  sentences.reduce((text, next) => text + (/[。！？]$/.test(text) ? "" : " ") + next);
