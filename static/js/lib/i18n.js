/**
 * The browser's part of the gettext catalog. The English text is the key; a message that is missing
 * from the catalog is shown in English.
 */

/** @typedef {Record<string, string | string[]>} Messages */
/** @typedef {string | number | undefined} Value */
/** @typedef {(message: string, values?: Record<string, string | number>) => string} Translate */
/** @typedef {<V = never>(message: string, values?: Record<string, V | Value>) => (string | Exclude<V, Value>)[]} Phrase */

/**
 * `t` translates a message to text. `phrase` fills placeholders with elements; it takes a result of
 * `t`, which keeps placeholders without a value.
 * @param {Messages} messages
 * @returns {{t: Translate, phrase: Phrase}}
 */
export function translator(messages) {
  const phrase = /** @type {Phrase} */ ((/** @type {string} */ message, /** @type {Record<string, any>} */ values = {}) =>
    parts(message).map((part) => {
      if ("text" in part) return part.text;
      const value = values[part.name] ?? `{${part.name}}`;
      return typeof value === "number" ? String(value) : value;
    }));
  /** @type {Translate} */
  const t = (message, values) => {
    const translation = messages[message];
    const text = (Array.isArray(translation) ? translation[0] : translation) || message;
    return phrase(text, values).join("");
  };
  return { t, phrase };
}

/**
 * Split a message at its `{placeholders}`.
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
 * Join sentences; after a full-width full stop no space is needed.
 * @param {string[]} sentences
 */
export const prose = (sentences) =>
  sentences.reduce((text, next) => text + (/[。！？]$/.test(text) ? "" : " ") + next);
