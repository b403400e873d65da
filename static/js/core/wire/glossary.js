/** The glossary: one source for the page and the docs. */

/** @typedef {{term: string, says: string}} Entry */
/** @typedef {Record<string, Record<string, Entry>>} Glossary  by term, by language */

/**
 * @param {Glossary} glossary
 * @param {string} term
 * @param {string} lang  English if there is no entry in this language
 * @returns {Entry | null}
 */
export function entryOf(glossary, term, lang) {
  const found = Object.hasOwn(glossary, term) ? glossary[term] : null;
  return found && (found[lang] ?? found.en);
}
