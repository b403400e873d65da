"""The model of a site, asked in a browser by messages to its worker, as the page asks it."""

import base64
import json
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Route

Json = dict[str, Any]
Array = NDArray[Any]
BLANK_PAGE = "LICENSES.txt"  # a page of the site that does nothing by itself
OPEN = """new Promise((resolve, reject) => {
    globalThis.model = new Worker("model-worker.js", { type: "module" });
    globalThis.model.addEventListener("error", ({ message }) => reject(new Error(message)));
    globalThis.model.addEventListener("message", ({ data }) => {
        if (data.error) reject(new Error(data.error));
        if (data.reply) resolve("open");
    });
    globalThis.model.postMessage({ id: 0, open: FOLDER });
})"""
# Numbers travel as bytes, so that they are compared as they are. A worker answers in milliseconds.
ASK = """new Promise((resolve) => {
    const { id, request } = ASKED;
    const began = performance.now();
    const packed = ({ data, ...tensor }) => {
        const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
        return { ...tensor, data: bytes.toBase64() };
    };
    const hear = ({ data }) => {
        if (data.id !== id) return;
        globalThis.model.removeEventListener("message", hear);
        const ms = performance.now() - began;
        const { tensors = {}, ...reply } = data.reply ?? data;
        const named = Object.entries(tensors).map(([name, tensor]) => [name, packed(tensor)]);
        resolve(JSON.stringify({ ...reply, ms, tensors: Object.fromEntries(named) }));
    };
    globalThis.model.addEventListener("message", hear);
    globalThis.model.postMessage({ id, request });
})"""


def with_cores(cores: int, route: Route) -> None:
    """Answer with the script of a worker, and tell it of so many cores."""
    script = route.fetch()
    told = f"Object.defineProperty(navigator, 'hardwareConcurrency', {{ value: {cores} }});"
    route.fulfill(response=script, body=told + script.text())


class PageModel:
    """The worker of a page; `evaluate` returns the string that an expression has as its value.

    The page is one of the site's; `folder`, beside it, has the exported model.
    """

    def __init__(self, evaluate: Callable[[str], str], folder: str) -> None:
        self._evaluate = evaluate
        self._ids = count(1)
        evaluate(OPEN.replace("FOLDER", json.dumps(folder)))

    def trace(self, request: Json) -> Json:
        """Return the reply to a request of the API, its tensors as arrays, and its `ms`."""
        asked = json.dumps({"id": next(self._ids), "request": request})
        reply: Json = json.loads(self._evaluate(ASK.replace("ASKED", asked)))
        tensors = {name: _array(tensor) for name, tensor in reply.pop("tensors").items()}
        return {**reply, "arrays": tensors}


def _array(tensor: Json) -> Array:
    numbers = np.frombuffer(base64.b64decode(tensor["data"]), dtype=tensor["dtype"])
    return numbers.reshape(tensor["shape"])
