"""A model of many heads that nobody has to train: replies of ours, their weights made up."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page, Route
from safetensors.numpy import save

Header = dict[str, Any]


def serve(page: Page, *, layers: int, heads: int) -> None:
    """Let the page believe that every model has so many layers and heads in its encoder.

    What it asks for in 8 bits, it gets for all of them; the rest stays the server's own.
    """

    def models(route: Route) -> None:
        served = route.fetch().json()
        for model in served:
            model["layers"]["encoder"] = layers
            model["heads"]["encoder"] = heads
            if "attentions" in model:  # checkouts from before the table have the counts alone
                model["attentions"] = _table(model["attentions"], layers, heads)
        route.fulfill(json=served)

    def trace(route: Route) -> None:
        asked = json.loads(route.request.post_data or "{}")
        reply = route.fetch()
        if asked.get("dtype") != "uint8":
            return route.fulfill(response=reply)
        return route.fulfill(
            body=_grown(reply.body(), layers, heads),
            headers={"Content-Type": "application/octet-stream"},
        )

    page.route("**/api/models", models)
    page.route("**/api/trace", trace)


def _table(attentions: list[dict[str, Any]], layers: int, heads: int) -> list[dict[str, Any]]:
    """The table with so many layers of so many heads in the encoder."""
    (first, *_) = attentions
    own = {"heads": heads, "kv_heads": heads}
    made = [
        {**first, **own, "place": f"encoder.{layer}.self", "layer": layer}
        for layer in range(layers)
    ]
    return made + [one for one in attentions if one["stack"] != "encoder"]


def _grown(reply: bytes, layers: int, heads: int) -> bytes:
    """The reply with weights and summaries for every layer and head."""
    length = int.from_bytes(reply[:8], "little")
    document: Header = json.loads(json.loads(reply[8 : 8 + length])["__metadata__"]["trace"])
    size = len(document["tokens"]["source"])
    axis = {"query": "source", "key": "source"}
    tensors: dict[str, NDArray[Any]] = {}
    kinds = {"weights": (["head", "query", "key"], "uint8"), "mask": (["query", "key"], "bool")}
    document["tensors"] = {}
    for layer in range(layers):
        made = {"weights": _weights(layer, heads, size), "mask": np.ones((size, size), dtype=bool)}
        for name, (dims, dtype) in kinds.items():
            place = f"encoder.{layer}.self.{name}"
            tensors[place] = made[name]
            shape = list(made[name].shape)
            document["tensors"][place] = {
                "dims": dims,
                "over": axis,
                "shape": shape,
                "dtype": dtype,
            }
    if known := document.get("summaries"):
        (first, *_) = known.values()
        repeated = {key: (values * heads)[:heads] for key, values in first.items()}
        document["summaries"] = {f"encoder.{layer}.self": repeated for layer in range(layers)}
    return save(tensors, {"trace": json.dumps(document)})


def _weights(layer: int, heads: int, size: int) -> NDArray[np.uint8]:
    """[head, query, key], rows that sum to one: each head looks back, so far and so sharply."""
    random = np.random.default_rng(layer)
    back = random.integers(0, size // 4, (heads, 1, 1))
    distance = np.arange(size)[:, None] - np.arange(size) - back
    scores = -np.abs(distance) / random.uniform(0.5, 8, (heads, 1, 1)) + random.normal(
        0, 0.5, (heads, size, size)
    )
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    weights = exponentials / exponentials.sum(-1, keepdims=True)
    coded: NDArray[np.uint8] = np.round(weights * 255).astype(np.uint8)
    return coded
