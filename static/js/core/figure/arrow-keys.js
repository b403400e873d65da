/** Navigation keys: the arrows, within a picture or through its steps. */

/** @type {Record<string, [number, number]>}  down, right */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const STEPS = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1 });
const ENDS = /** @type {Record<string, number>} */ ({ Home: -Infinity, End: Infinity });
/** Keys sent by a presenter's remote; outside projector mode they scroll. */
export const REMOTE = /** @type {Record<string, number>} */ ({ PageUp: -1, PageDown: 1 });
/** All keys that turn pages: some remotes send arrows. */
export const TURNS = /** @type {Record<string, number>} */ ({ ...REMOTE, ...STEPS });

/**
 * Whether a key is pressed without modifiers, and not while an input method is composing.
 * @param {Pick<KeyboardEvent, "ctrlKey" | "metaKey" | "altKey" | "isComposing">} event
 */
export const alone = ({ ctrlKey, metaKey, altKey, isComposing }) => !(ctrlKey || metaKey || altKey || isComposing);

/**
 * @param {KeyboardEvent} event
 * @returns {[number, number] | null}  down and right; null: not an arrow key alone
 */
export const arrow = (event) => (alone(event) && ARROWS[event.key]) || null;

/**
 * @param {EventTarget} element
 * @param {(down: number, right: number, event: KeyboardEvent) => boolean | void} move  false:
 *   nothing to move, so the key keeps its default action
 */
export function onArrows(element, move) {
  element.addEventListener("keydown", (event) => {
    const by = arrow(/** @type {KeyboardEvent} */ (event));
    if (by && move(...by, /** @type {KeyboardEvent} */ (event)) !== false) event.preventDefault();
  });
}

/** @param {number} index @param {number} size  The nearest that is there. */
export const within = (index, size) => Math.max(Math.min(index, size - 1), 0);

/**
 * Use arrows and Space to move through steps wherever they have no other meaning; handled before
 * the page's own keys.
 * @param {import("./figure-keys.js").Keys} keys  of the figure
 * @param {object} steps
 * @param {() => boolean} steps.projector  whether a remote's keys count
 * @param {{arrows: string, space: string}} steps.takes  selectors of elements that use these keys
 *   themselves
 * @param {boolean} [steps.ends]  whether Home and End go to the first and the last step
 * @param {(by: number) => void} steps.go
 * @param {(back: boolean) => void} steps.space
 * @returns {() => void}  unbinds the keys
 */
export function onSteps(keys, { projector, takes, ends = false, go, space }) {
  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const { key, target, shiftKey } = event;
    const by = STEPS[key] ?? (ends ? ENDS[key] : undefined) ?? (projector() ? REMOTE[key] : undefined);
    if ((!by && key !== " ") || !alone(event)) return;
    const place = /** @type {Element | null} */ (target);
    if (!place?.closest) return;
    if (place.closest(by ? takes.arrows : `${takes.space}, button, a, summary`)) return;
    event.preventDefault();
    event.stopPropagation();
    if (by) go(by);
    else space(shiftKey);
  }
  return keys.listen(pressed, { first: true });
}
