/**
 * Run a task less often than it is requested. Each returns `later`, which may be called at any
 * rate, `now`, which runs a pending task at once, and `cancel`; the task gets the last arguments.
 */

/**
 * @template {any[]} T
 * @typedef {object} Pace
 * @property {(...values: T) => void} later
 * @property {() => void} now  does nothing if no task is pending
 * @property {() => void} cancel
 * @property {() => boolean} owes  whether a task is pending
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
const afterPaint = (window) => (task) => {
  let timer = 0;
  const request = window.requestAnimationFrame(() => (timer = window.setTimeout(task, 0)));
  return () => {
    window.cancelAnimationFrame(request);
    window.clearTimeout(timer);
  };
};

/**
 * Run once calls have stopped for a while (debounce).
 * @template {any[]} T
 * @param {(...values: T) => void} task
 * @param {number} wait  in milliseconds
 * @returns {Pace<T>}
 */
export const debounce = (task, wait) => paced(task, after(wait), { restarts: true });

/**
 * Run at once, and then at most every `wait` milliseconds.
 * @template {any[]} T
 * @param {(...values: T) => void} task
 * @param {number} wait
 * @returns {Pace<T>}
 */
export const throttle = (task, wait) => paced(task, after(wait), { leads: true });

/**
 * Run at most once per frame.
 * @template {any[]} T
 * @param {(...values: T) => void} task
 * @param {Pick<Window, "requestAnimationFrame" | "cancelAnimationFrame">} window
 * @returns {Pace<T>}
 */
export const eachFrame = (task, window) => paced(task, frame(window));

/**
 * Run after the next frame has been shown.
 * @template {any[]} T
 * @param {(...values: T) => void} task
 * @param {Window} window
 * @returns {Pace<T>}
 */
export const afterFrame = (task, window) => paced(task, afterPaint(window));

/**
 * Run as soon as the browser has handled pending events, such as a key press.
 * @template {any[]} T
 * @param {(...values: T) => void} task
 * @returns {Pace<T>}
 */
export const whenFree = (task) => paced(task, after(0));

/**
 * @template {any[]} T
 * @param {(...values: T) => void} task
 * @param {Schedule} schedule
 * @param {{restarts?: boolean, leads?: boolean}} [options]  restarts: each call restarts the wait;
 *   leads: the first call runs at once
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

/**
 * Do what a button is for. Until it is done, the buttons are dim and do nothing, but keep the focus:
 * a disabled one would lose it.
 * @template T
 * @param {() => Promise<T>} work
 * @param {...HTMLElement} buttons
 * @returns {Promise<T>}
 */
export async function whileBusy(work, ...buttons) {
  const stop = (/** @type {Event} */ event) => (event.preventDefault(), event.stopImmediatePropagation());
  for (const button of buttons) {
    button.ariaDisabled = "true";
    button.addEventListener("click", stop, true);
  }
  try {
    return await work();
  } finally {
    for (const button of buttons) {
      button.removeEventListener("click", stop, true);
      button.ariaDisabled = null;
    }
  }
}
