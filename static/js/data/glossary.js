/** The words of the field, explained: one source for the page, the docs and the lessons. */

/** @typedef {{term: string, says: string}} Entry */
/** @typedef {Record<string, Record<string, Entry>>} Glossary  by term, by language */

/**
 * @param {Glossary} glossary
 * @param {string} term
 * @param {string} lang  English where it lacks one
 * @returns {Entry | null}
 */
export function entryOf(glossary, term, lang) {
  const found = Object.hasOwn(glossary, term) ? glossary[term] : null;
  return found && (found[lang] ?? found.en);
}
