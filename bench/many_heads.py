"""Simulates a model with many heads: real replies with made-up weights."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page, Route
from safetensors.numpy import load, save

Header = dict[str, Any]
COARSE = ":uint8"  # suffix of tensors requested in 8 bits
KINDS = ("weights", "mask")
MASK = "encoder.0.self.mask"


def serve(page: Page, *, layers: int, heads: int) -> None:
    """Change replies so that every model has so many layers and heads in its encoder.

    Tensors requested in 8 bits are made up for all heads; the others are the server's.
    """

    def models(route: Route) -> None:
        served = route.fetch().json()
        for model in served:
            model["layers"]["encoder"] = layers
            model["heads"]["encoder"] = heads
            if "attentions" in model:  # older checkouts have only the counts
                model["attentions"] = _table(model["attentions"], layers, heads)
        route.fulfill(json=served)

    def trace(route: Route) -> None:
        body = json.loads(route.request.post_data or "{}")
        names = [name for name in body.get("select", ()) if name.startswith("encoder.")]
        if body.get("dtype") == "uint8":  # older checkouts request the dtype for all tensors
            names = [f"encoder.{n}.self.{kind}" for n in range(layers) for kind in KINDS]
        if not any(COARSE in name or body.get("dtype") for name in names):
            return route.continue_()
        unchanged = [name for name in body["select"] if name not in names]
        summarise = ["encoder.0.self"] if body.get("summarise") else []
        sent = {**body, "dtype": "float32", "select": unchanged or [MASK], "summarise": summarise}
        reply = route.fetch(post_data=json.dumps(sent))
        return route.fulfill(
            body=_grown(reply.body(), names, body.get("summarise") or [], heads),
            headers={"Content-Type": "application/octet-stream"},
        )

    page.route("**/api/models", models)
    page.route("**/api/trace", trace)


def _table(attentions: list[dict[str, Any]], layers: int, heads: int) -> list[dict[str, Any]]:
    """Return the table with so many encoder layers and heads."""
    (first, *_) = attentions
    counts = {"heads": heads, "kv_heads": heads}
    attentions_added = [
        {**first, **counts, "place": f"encoder.{layer}.self", "layer": layer}
        for layer in range(layers)
    ]
    return attentions_added + [
        attention for attention in attentions if attention["stack"] != "encoder"
    ]


def _grown(reply: bytes, names: list[str], summarised: list[str], heads: int) -> bytes:
    """Return the reply with made-up tensors, and with the first summary for all places."""
    length = int.from_bytes(reply[:8], "little")
    document: Header = json.loads(json.loads(reply[8 : 8 + length])["__metadata__"]["trace"])
    tensors: dict[str, NDArray[Any]] = dict(load(reply))
    size = len(document["tokens"]["source"])
    for name in names:
        grown, dims = np.ones((size, size), dtype=bool), ["query", "key"]
        if ".weights" in name:
            layer = int(name.split(".")[1])
            grown, dims = _weights(layer, heads, size), ["head", *dims]
        tensors[name] = grown
        document["tensors"][name] = {
            "dims": dims,
            "over": {"query": "source", "key": "source"},
            "shape": list(grown.shape),
            "dtype": grown.dtype.name,
        }
    if summaries := document.get("summaries"):
        (first, *_) = summaries.values()
        repeated = {key: (values * heads)[:heads] for key, values in first.items()}
        document["summaries"] = dict.fromkeys(summarised, repeated)
    return save(tensors, {"trace": json.dumps(document)})


def _weights(layer: int, heads: int, size: int) -> NDArray[np.uint8]:
    """Make up weights (head, query, key): each head attends to a different distance back."""
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
