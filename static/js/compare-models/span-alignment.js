/**
 * Align the tokens that two tokenizers make of one text, by the characters that they cover.
 *
 * Special tokens cover no characters; two of them are equal if they have the same name.
 */

/**
 * The characters of a token, from `start` up to `end`, in code points of its text.
 * @typedef {{text: string, start: number, end: number, special: boolean}} Piece
 */
/** Neighbouring tokens, from `first` to `last`. @typedef {{first: number, last: number}} Stretch */

/**
 * @param {Piece[]} a
 * @param {Piece[]} b  of the same text
 * @returns {{a: number, b: number}[]}  equal tokens, in the order of a: those of the same
 *   characters, in both as often
 */
export function equals(a, b) {
  const others = places(b);
  const nth = new Map();
  const own = places(a);
  return a.flatMap((piece, i) => {
    const name = named(piece);
    const [mine, theirs] = [own.get(name) ?? [], others.get(name) ?? []];
    const n = nth.get(name) ?? 0;
    nth.set(name, n + 1);
    return mine.length === theirs.length && mine.length ? [{ a: i, b: theirs[n] }] : [];
  });
}

/**
 * The tokens that cover some of a token's characters.
 * @param {Piece[]} from
 * @param {number} at  the token
 * @param {Piece[]} to  of the same text
 * @returns {Stretch | null}  null: none
 */
export function covering(from, at, to) {
  const piece = from[at];
  if (!piece) return null;
  const equal = equals(from, to).find(({ a }) => a === at);
  if (equal) return { first: equal.b, last: equal.b };
  const shared = to.flatMap(({ start, end }, i) => (Math.max(start, piece.start) < Math.min(end, piece.end) ? [i] : []));
  return shared.length ? { first: shared[0], last: shared[shared.length - 1] } : null;
}

/**
 * Leave out the spaces at both ends, which some tokenizers count and others do not.
 * @param {Piece} piece
 * @param {string[]} characters  of its text, by code point
 * @returns {Piece}
 */
export function trimmed(piece, characters) {
  let { start, end } = piece;
  while (start < end && !characters[start]?.trim()) start++;
  while (start < end && !characters[end - 1]?.trim()) end--;
  return { ...piece, start, end };
}

/** @param {Piece} piece @returns {string}  "" for a token without characters, which has no equal */
function named({ text, start, end, special }) {
  if (special) return `special ${text}`;
  return start < end ? `${start} ${end}` : "";
}

/** @param {Piece[]} pieces @returns {Map<string, number[]>}  where each stands */
function places(pieces) {
  /** @type {Map<string, number[]>} */
  const found = new Map();
  pieces.forEach((piece, i) => {
    const name = named(piece);
    if (name) found.set(name, [...(found.get(name) ?? []), i]);
  });
  return found;
}
