/** The only file that touches Plotly, which is 4.8 MB and loaded on demand. */

/** @typedef {{data: object[], layout: object, config: object}} Figure */
/**
 * @typedef {object} Plotly  the functions used here
 * @property {(element: HTMLElement, data: object[], layout: object, config: object) => Promise<unknown>} react
 * @property {(element: HTMLElement, changes: object, traces: number[]) => Promise<unknown>} restyle
 * @property {(element: HTMLElement, changes: object) => Promise<unknown>} relayout
 * @property {(element: HTMLElement) => void} purge
 */
/** @typedef {HTMLElement & {on: (event: string, listener: (event: any) => void) => void, _fullLayout: any}} Drawn */
/** @typedef {ReturnType<typeof createPlotter>} Plotter */

/**
 * plotly.js creates these two style elements, which a strict Content-Security-Policy forbids,
 * unless elements with their ids exist. Its rules are in css/core/plotly.css; the second is for
 * maps.
 */
const NO_STYLES = [
  "plotly.js-style-global",
  "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53",
];

/**
 * Load Plotly once, when it is first needed.
 * @param {Document} document
 * @param {string} url
 */
export function createPlotter(document, url) {
  /** @type {Promise<Plotly> | null} */
  let coming = null;
  return {
    load() {
      if (!coming) stand(document);
      coming ??= fetchPlotly(document, url);
      coming.catch(() => (coming = null));
      return coming;
    },
  };
}

/** @param {Document} document  Gets what stands for the style elements. */
function stand(document) {
  for (const id of NO_STYLES)
    document.head.append(Object.assign(document.createElement("template"), { id, className: "no-inline-styles" }));
}

/** @param {Document} document @param {string} url @returns {Promise<Plotly>} */
function fetchPlotly(document, url) {
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: url, async: true });
    script.addEventListener("load", () => resolve(/** @type {any} */ (globalThis).Plotly));
    script.addEventListener("error", () => reject(new Error("plotly.js did not load")));
    document.head.append(script);
  });
}

/**
 * A container for one figure: the one requested last.
 * @param {HTMLElement} element
 * @param {Plotter} plotter
 * @param {Record<string, (event: any, drawn: Drawn) => void>} [events]  Plotly events by name
 */
export function createPlot(element, plotter, events = {}) {
  /** @type {Figure | null} */
  let requested = null;
  /** @type {Plotly | null} */
  let plotly = null;
  const drawn = /** @type {Drawn} */ (element);

  return {
    /**
     * @param {Figure} figure
     * @returns {Promise<boolean>}  whether it is now shown; rejects if Plotly cannot be loaded
     */
    async show(figure) {
      requested = figure;
      const first = plotly === null;
      const loaded = await plotter.load();
      if (requested !== figure) return false;
      plotly = loaded;
      await plotly.react(element, figure.data, figure.layout, figure.config);
      if (first) {
        for (const [name, listener] of Object.entries(events)) drawn.on(name, (event) => listener(event, drawn));
        drawn.on("plotly_afterplot", () => sayChinese(element));
        sayChinese(element);
      }
      return requested === figure;
    },
    /**
     * Axis coordinates of a point of the window; a category is its index.
     * @param {number} clientX
     * @param {number} clientY
     * @returns {{x: number, y: number} | null}  null outside the plot
     */
    at(clientX, clientY) {
      const area = element.querySelector(".nsewdrag")?.getBoundingClientRect();
      if (!area || !plotly) return null;
      const { xaxis, yaxis } = drawn._fullLayout;
      const across = (clientX - area.left) / area.width;
      const down = (clientY - area.top) / area.height;
      if (!(across >= 0 && across <= 1 && down >= 0 && down <= 1)) return null;
      return { x: along(xaxis.range, across), y: along(yaxis.range, 1 - down) };
    },
    /** @param {object} changes @param {number[]} traces */
    restyle: (changes, traces) => void plotly?.restyle(element, changes, traces),
    /** @param {object} changes  of the layout */
    relayout: (changes) => void plotly?.relayout(element, changes),
    clear() {
      requested = null;
      plotly?.purge(element);
      plotly = null;
    },
  };
}

/** @param {[number, number]} range @param {number} share */
const along = ([from, to], share) => from + share * (to - from);

/** Mark Plotly's Chinese texts, which have no `lang`. @param {HTMLElement} element */
function sayChinese(element) {
  for (const text of element.querySelectorAll("text"))
    if (/\p{Script=Han}/u.test(text.textContent ?? "")) text.setAttribute("lang", "zh-Hans");
}
