/** When a page is connected to its room. */

/**
 * Connect as long as the page is seen: a hidden page has no use for a connection, of which a browser
 * allows six to a server. It gets the present state when it is seen again.
 * @param {{start: () => void, stop: () => void}} stream
 * @param {() => boolean} over  whether the room has ended for this page
 */
export function connectWhileSeen(stream, over) {
  const look = () => (over() || document.hidden ? stream.stop() : stream.start());
  document.addEventListener("visibilitychange", look);
  window.addEventListener("online", look);
  window.addEventListener("pagehide", stream.stop);
  window.addEventListener("pageshow", ({ persisted }) => persisted && look());
  look();
}
