"""Replies are equal alone, in batches of concurrent requests, padded, and with drafts.

Over HTTP, through an engine's process; `tests/model/test_batch_independence.py` asks the model.
"""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from app.engine.reply_formats import Reply
from model.trace.interventions import EFFECTS
from tests.servers import PATIENCE, AppServer

CLOSE = 1e-4  # the tolerance in docs/api.md
AT_ONCE = 16
SELECT = ["*.weights", "*.residual", "decoder.logits", "encoder.0.self.mask"]
SOURCES = [
    "A cat",
    "The cat sat on the mat.",
    "猫坐在垫子上。",
    "I don't know who she is, but she knows me.",
    "He told me that he had never seen the sea before, and that he was not going to.",
    "她说她不知道，可是我不相信。",
    "A dog ran after the cat, and it didn't stop until it was home again.",
]
OTHER = {"source": SOURCES[-1], "target": "狗追着猫跑。"}
CHANGES: dict[str, Any] = {
    "zero": {"at": "encoder.1.self", "head": 3, "do": "zero"},
    "uniform": {"at": "decoder.0.cross", "do": "uniform"},
    "mean": {"at": "encoder.2.self", "head": 0, "do": "mean"},
    "set": {"at": "decoder.1.cross", "do": {"set": [0, 1, 0.7], "renormalise": True}},
    "cut": {"at": "encoder.0.self", "head": 2, "do": {"cut": [1, 1]}},
    "freeze": {"at": "decoder.0.cross", "do": {"freeze": OTHER}},
    "temperature": {"at": "encoder.1.self", "do": {"temperature": 3.0}},
    "drop": {"at": "target.position", "do": "drop"},
    "shuffle": {"at": "source.position", "do": {"shuffle": 5}},
    "mask": {"at": "source", "do": {"mask": 1}},
    "patch": {
        "at": "decoder.1.cross.mix",
        "head": 2,
        "do": {"patch": {**OTHER, "rows": [[1, 0], [3, 1]]}},
    },
    "scale": {"at": "encoder.2.self.mix", "heads": [1, 4], "do": {"scale": 2.0}},
    "fill": {"at": "decoder.0.ffn.hidden", "units": [3, 70], "rows": [0], "do": {"fill": 4.0}},
    "add": {
        "at": "encoder.0.ffn.norm",
        "rows": [1],
        "do": {"add": {"to": {**OTHER, "row": 2}, "minus": {**OTHER, "row": 3}, "times": 0.5}},
    },
}
DECODES: list[Any] = [
    {},  # greedy: drafted
    {"method": "beam", "beam": 3, "length_penalty": 1.0},
    {"method": "sample", "seed": 4, "temperature": 1.3, "top_k": 50},
    {"method": "sample", "seed": 5, "top_p": 0.9},
    {"max_tokens": 5},
]


def asked() -> list[dict[str, Any]]:
    """Each effect, decoded in one of the ways, and the rest without changes."""
    changes = [*CHANGES.values(), *[None] * (AT_ONCE - len(CHANGES))]
    made = []
    for n, change in enumerate(changes):
        request = {"source": SOURCES[n % len(SOURCES)], "decode": DECODES[n % len(DECODES)]}
        request |= {"interventions": [change] if change else [], "select": SELECT}
        made.append(request | ({"pad_to": 64} if n % 2 else {}))
    return made


async def ask(client: httpx.AsyncClient, request: dict[str, Any]) -> Reply:
    accept = {"Accept": "application/octet-stream"}
    response = await client.post("/api/trace", json=request, headers=accept)
    assert response.status_code == 200, response.text
    return Reply.parse(response.content)


def same(found: Reply, alone: Reply) -> None:
    """Compare `found` with `alone`, in the rows and columns of the request's own tokens."""
    one, other = (each.document["output"] for each in (found, alone))
    assert [token["id"] for token in one["tokens"]] == [token["id"] for token in other["tokens"]]
    assert one["text"] == other["text"]
    for numbers in ("logprobs", "score"):
        np.testing.assert_allclose(one[numbers], other[numbers], atol=CLOSE, rtol=0)
    assert found.arrays.keys() == alone.arrays.keys()
    for name, array in alone.arrays.items():
        own = tuple(slice(size) for size in array.shape)
        known = array.astype("float64")
        within = CLOSE * max(1.0, float(np.abs(known[np.isfinite(known)]).max()))
        np.testing.assert_allclose(
            found.arrays[name][own], array, atol=within, rtol=0, err_msg=name
        )


async def test_every_reply_is_the_same_alone_and_in_a_batch(
    launch: Callable[..., AppServer], tmp_path: Path
) -> None:
    """Compare a server that answers one by one without drafts with one that gets all at once.

    Half of them are padded. Two servers, since a cached translation would not be a test.
    """
    assert CHANGES.keys() == EFFECTS.keys()
    requests = asked()
    quiet = launch(tmp_path / "quiet", engines="0", draft="false", max_cache_bytes="0")
    async with httpx.AsyncClient(base_url=quiet.url, timeout=PATIENCE, trust_env=False) as client:
        alone = [await ask(client, {**one, "pad_to": None}) for one in requests]
    quiet.stop()
    busy = launch(engines="1", max_batch=str(AT_ONCE), max_cache_bytes="0", metrics="true")
    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(
        base_url=busy.url, timeout=PATIENCE, limits=limits, trust_env=False
    ) as client:
        together = await asyncio.gather(*(ask(client, one) for one in requests))
        metrics = (await client.get("/metrics")).text
    for request, found, known in zip(requests, together, alone, strict=True):
        try:
            same(found, known)
        except AssertionError as error:
            raise AssertionError(f"{request}: {error}") from error
    [batches] = re.findall(r'^headlight_batch_size_count{kind="trace"} (\d+)', metrics, re.M)
    assert int(batches) <= AT_ONCE // 2, "they were beside each other"
