// The API reference: Swagger UI from a Python package, so that it works offline.
const { classList, dataset } = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
classList.toggle("dark-mode", (dataset.theme ?? system) === "dark");
const reference = /** @type {HTMLElement} */ (document.querySelector("#reference"));
/** @type {any} */ (globalThis).SwaggerUIBundle({
  url: reference.dataset.url,
  domNode: reference,
  deepLinking: true,
  validatorUrl: null,
});
