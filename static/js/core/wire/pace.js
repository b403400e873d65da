/** How often a busy server asks to be sent a sentence: its replies say for how long to leave it to others. */

const HEADER = "Headlight-Pace";

/** @typedef {ReturnType<typeof createPace>} Pace */

/** @param {() => number} [now]  in milliseconds */
export function createPace(now = () => performance.now()) {
  let until = 0;
  let busy = false;
  return {
    /** Take the pace from a reply; the newest counts. @param {Pick<Response, "headers">} reply  to a POST */
    hear({ headers }) {
      const seconds = Number(headers.get(HEADER)) || 0;
      busy = seconds > 0;
      until = now() + seconds * 1000;
    },

    /** Whether the server asked for it last time. */
    busy: () => busy,

    /** The milliseconds after which to send the next sentence. */
    left: () => Math.max(0, until - now()),
  };
}
