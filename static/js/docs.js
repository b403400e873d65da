// The API reference: Swagger UI out of a Python package, so that it works without the internet.
const reference = /** @type {HTMLElement} */ (document.querySelector("#reference"));
/** @type {any} */ (globalThis).SwaggerUIBundle({
  url: reference.dataset.url,
  domNode: reference,
  deepLinking: true,
  validatorUrl: null,
});
