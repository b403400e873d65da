"""A long text's overview and tiles are bit for bit the same alone and among other requests."""

import asyncio
import random
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply
from tests.long_texts.test_texts import OCTETS, TEXT
from tests.model.tiny_huggingface import make
from tests.serving.fixtures import Serving

pytest.importorskip("transformers")

MODELS = ("gpt2", "mistral", "bart")
EDGES = {"query": [0, 5, 13], "key": [0, 9, 20]}
OWN: list[tuple[str, dict[str, Any]]] = [
    ("overview", {"model": "gpt2", "text": TEXT, "cells": 7, "dtype": "float32"}),
    ("overview", {"model": "bart", "source": TEXT, "target": "A dog ran", "cells": 9}),
    ("tile", {"model": "gpt2", "text": TEXT, "at": "decoder.1.self", "head": 3}),
    ("tile", {"model": "gpt2", "text": TEXT, "at": "decoder.0.self", "head": 0, "edges": EDGES}),
    (
        "tile",
        {
            "model": "bart",
            "source": TEXT,
            "target": "A dog ran",
            "at": "decoder.2.cross",
            "head": 1,
            "cells": [3, 4],
        },
    ),
    ("tile", {"model": "mistral", "text": TEXT, "at": "decoder.1.self", "head": 2, "key": [3, 4]}),
]


def others(count: int) -> list[tuple[str, dict[str, Any]]]:
    """Short traces in batches, long texts of other lengths, and other views of the same ones."""
    drawn = random.Random(7)
    made: list[tuple[str, dict[str, Any]]] = []
    for n in range(count):
        model = drawn.choice(MODELS)
        words = TEXT[: drawn.randrange(9, len(TEXT))] if n % 2 else TEXT
        texts = {"source": words, "target": f"A dog {n}"} if model == "bart" else {"text": words}
        path = ("trace", "overview", "tile")[n % 3]
        asked: dict[str, Any] = {"model": model, **texts}
        if path == "trace":
            asked |= {"select": ["*.weights", "*.q"]}
        if path == "overview":
            asked |= {"cells": drawn.randrange(3, 30), "dtype": "uint8"}
        if path == "tile":
            asked |= {"at": "decoder.0.self", "head": drawn.randrange(4)}
        made.append((path, asked))
    return made


async def replies(
    serving: Serving, folders: dict[str, Path], asked: list[tuple[str, dict[str, Any]]]
) -> list[Reply]:
    """Send all at once to a server that has read nothing yet."""
    catalog = Catalog.load({name: f"hf:{path}" for name, path in folders.items()}, "cpu", 4)
    settings = {"max_queue": 200, "max_work": 1e9, "work_per_second": 1e9, "max_wait_seconds": 300}
    async with serving(catalog=catalog, **settings) as client:

        async def send(path: str, body: dict[str, Any]) -> Reply:
            reply = await client.post(
                f"/api/{path}", json=body, headers=OCTETS, timeout=httpx.Timeout(300)
            )
            assert reply.status_code == 200, reply.text
            return Reply.parse(reply.content)

        return await asyncio.gather(*(send(*one) for one in asked))


async def test_the_same_in_company(serving: Serving, tmp_path: Path) -> None:
    folders = {name: make(name, tmp_path / name) for name in MODELS}
    alone = [(await replies(serving, folders, [one]))[0] for one in OWN]
    company = others(12)
    together = OWN + company
    order = list(range(len(together)))
    random.Random(3).shuffle(order)
    found = await replies(serving, folders, [together[n] for n in order])
    back = dict(zip(order, found, strict=True))
    for n, one in enumerate(alone):
        assert back[n].document == one.document
        for name, values in one.arrays.items():
            np.testing.assert_array_equal(back[n].arrays[name], values, err_msg=f"{OWN[n]} {name}")
            assert back[n].arrays[name].tobytes() == values.tobytes()
