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
        asked = json.loads(route.request.post_data or "{}")
        names = [one for one in asked.get("select", ()) if one.startswith("encoder.")]
        if asked.get("dtype") == "uint8":  # older checkouts request the dtype for all tensors
            names = [f"encoder.{n}.self.{kind}" for n in range(layers) for kind in KINDS]
        if not any(COARSE in one or asked.get("dtype") for one in names):
            return route.continue_()
        own = [one for one in asked["select"] if one not in names]
        summarise = ["encoder.0.self"] if asked.get("summarise") else []
        sent = {**asked, "dtype": "float32", "select": own or [MASK], "summarise": summarise}
        reply = route.fetch(post_data=json.dumps(sent))
        return route.fulfill(
            body=_grown(reply.body(), names, asked.get("summarise") or [], heads),
            headers={"Content-Type": "application/octet-stream"},
        )

    page.route("**/api/models", models)
    page.route("**/api/trace", trace)


def _table(attentions: list[dict[str, Any]], layers: int, heads: int) -> list[dict[str, Any]]:
    """Return the table with so many encoder layers and heads."""
    (first, *_) = attentions
    own = {"heads": heads, "kv_heads": heads}
    made = [
        {**first, **own, "place": f"encoder.{layer}.self", "layer": layer}
        for layer in range(layers)
    ]
    return made + [one for one in attentions if one["stack"] != "encoder"]


def _grown(reply: bytes, names: list[str], summarised: list[str], heads: int) -> bytes:
    """Return the reply with made-up tensors, and with the first summary for all places."""
    length = int.from_bytes(reply[:8], "little")
    document: Header = json.loads(json.loads(reply[8 : 8 + length])["__metadata__"]["trace"])
    tensors: dict[str, NDArray[Any]] = dict(load(reply))
    size = len(document["tokens"]["source"])
    for name in names:
        made, dims = np.ones((size, size), dtype=bool), ["query", "key"]
        if ".weights" in name:
            layer = int(name.split(".")[1])
            made, dims = _weights(layer, heads, size), ["head", *dims]
        tensors[name] = made
        document["tensors"][name] = {
            "dims": dims,
            "over": {"query": "source", "key": "source"},
            "shape": list(made.shape),
            "dtype": made.dtype.name,
        }
    if known := document.get("summaries"):
        (first, *_) = known.values()
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
