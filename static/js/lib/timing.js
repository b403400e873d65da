/**
 * Doing less often what is asked for often. Each gives `later`, which may be called at any rate,
 * `now`, which does at once what is owed, and `cancel`; the last values given are those that count.
 */

/**
 * @template {any[]} T
 * @typedef {object} Pace
 * @property {(...values: T) => void} later
 * @property {() => void} now  nothing where nothing is owed
 * @property {() => void} cancel
 * @property {() => boolean} owes  whether something is still to be done
 */
/** @typedef {(task: () => void) => () => void} Schedule  what it gives back calls it off */

/** @param {number} wait  in milliseconds @returns {Schedule} */
const after = (wait) => (task) => {
  const timer = setTimeout(task, wait);
  return () => clearTimeout(timer);
};

/** @param {Pick<Window, "requestAnimationFrame" | "cancelAnimationFrame">} window @returns {Schedule} */
const frame = (window) => (task) => {
  const request = window.requestAnimationFrame(task);
  return () => window.cancelAnimationFrame(request);
};

/** @param {Window} window @returns {Schedule}  when the next frame is on the screen */
const shown = (window) => (task) => {
  let timer = 0;
  const request = window.requestAnimationFrame(() => (timer = window.setTimeout(task, 0)));
  return () => {
    window.cancelAnimationFrame(request);
    window.clearTimeout(timer);
  };
};

/**
 * When calls have stopped coming for a while.
 * @template {any[]} T
 * @param {(...values: T) => void} task
 * @param {number} wait  in milliseconds
 * @returns {Pace<T>}
 */
export const settle = (task, wait) => paced(task, after(wait), { restarts: true });

/**
 * At once, and then not more often than every so many milliseconds.
 * @template {any[]} T
 * @param {(...values: T) => void} task
 * @param {number} wait
 * @returns {Pace<T>}
 */
export const throttle = (task, wait) => paced(task, after(wait), { leads: true });

/**
 * Once a frame, however often it is asked for.
 * @template {any[]} T
 * @param {(...values: T) => void} task
 * @param {Pick<Window, "requestAnimationFrame" | "cancelAnimationFrame">} window
 * @returns {Pace<T>}
 */
export const eachFrame = (task, window) => paced(task, frame(window));

/**
 * Once what is on the way to the screen is there.
 * @template {any[]} T
 * @param {(...values: T) => void} task
 * @param {Window} window
 * @returns {Pace<T>}
 */
export const afterFrame = (task, window) => paced(task, shown(window));

/**
 * As soon as the browser has seen to what else there is, such as a key.
 * @template {any[]} T
 * @param {(...values: T) => void} task
 * @returns {Pace<T>}
 */
export const whenFree = (task) => paced(task, after(0));

/**
 * @template {any[]} T
 * @param {(...values: T) => void} task
 * @param {Schedule} schedule
 * @param {{restarts?: boolean, leads?: boolean}} [how]  restarts: each call begins the wait anew;
 *   leads: the first call waits for nothing
 * @returns {Pace<T>}
 */
function paced(task, schedule, { restarts = false, leads = false } = {}) {
  /** @type {T | null} */
  let owed = null;
  /** @type {(() => void) | null} */
  let callOff = null;

  function pay() {
    const due = owed;
    owed = null;
    if (due) task(...due);
    return due !== null;
  }

  function wait() {
    callOff = schedule(() => {
      callOff = null;
      if (pay() && leads) wait();
    });
  }

  function cancel() {
    callOff?.();
    callOff = null;
    owed = null;
  }

  return {
    later(...values) {
      owed = values;
      if (restarts) callOff?.();
      else if (callOff) return;
      if (leads) pay();
      wait();
    },
    now() {
      const due = owed;
      cancel();
      if (due) task(...due);
    },
    cancel,
    owes: () => owed !== null,
  };
}
