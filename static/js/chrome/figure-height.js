/** The room of the page's main figure: as high as keeps all of it on the screen. */

/** @type {import("../state/types.js").Measure} */
export function screenful(element) {
  const place = element.getBoundingClientRect();
  const wide = window.innerWidth >= 900;
  const left = window.innerHeight - (place.top + window.scrollY) - 40;
  return {
    width: Math.floor(place.width),
    height: wide ? Math.max(360, left) : window.innerHeight * 0.7,
    wide,
  };
}

/**
 * What stands above it moves it, and so does the window.
 * @param {import("../views/create-figure.js").Figure} figure
 */
export function bindScreen({ resize }) {
  const observer = new ResizeObserver(resize);
  document.querySelectorAll(".band, .projector-bar").forEach((place) => observer.observe(place));
  window.addEventListener("resize", resize);
}
