/** What is different on paper, where figures are drawn again; core/page/theme-switch.js says when. */

/** Pixels of a canvas per CSS pixel: 288 per inch. */
const SHARP = 3;

/**
 * Pixels per CSS pixel of what is drawn now.
 * @param {Document} document
 */
export const sharpness = (document) => Math.max(onPaper(document) ? SHARP : 1, document.defaultView?.devicePixelRatio ?? 1);

/** Whether the page is being printed. @param {Document} document */
export const onPaper = ({ documentElement }) => documentElement.dataset.paper !== undefined;
