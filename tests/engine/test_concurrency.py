"""Many different requests at once: each gets the same reply as alone."""

import asyncio
import random
from typing import Any

import httpx
import numpy as np

from app.engine.reply_formats import Reply
from tests.serving.fixtures import Serving
from tests.shipped_head_counts import IN_DECODER, IN_ENCODER

OCTETS = {"Accept": "application/octet-stream"}
WORDS = "the cat sat on a mat and looked at every bird that flew over old houses"
AGREE = 1e-4  # the tolerance in docs/api.md: batching changes the order of sums


async def ask(client: httpx.AsyncClient, request: dict[str, Any]) -> Reply:
    response = await client.post("/api/trace", json=request, headers=OCTETS)
    assert response.status_code == 200, response.text
    return Reply.parse(response.content)


def some_request(number: int) -> dict[str, Any]:
    """Make a request that differs from others in length, target, selection and intervention."""
    chance = random.Random(number)
    request: dict[str, Any] = {
        "source": " ".join(chance.choices(WORDS.split(), k=chance.randint(1, 20))),
        "select": chance.choice([["*.weights"], ["encoder.*.q", "*.mask"], ["decoder.prob*"], []]),
    }
    if chance.random() < 0.6:
        request["target"] = "".join(
            chance.choices("猫坐在垫子上看鸟飞过老房子", k=chance.randint(1, 12))
        )
    else:
        method = chance.choice(["greedy", "beam"])
        request["decode"] = {"method": method, "beam": 2, "max_tokens": chance.randint(1, 8)}
    if chance.random() < 0.5:
        at = chance.choice(["encoder.0.self", "decoder.1.self", "decoder.0.cross"])
        heads = IN_ENCODER if at.startswith("encoder") else IN_DECODER
        effect = chance.choice(["zero", "uniform"])
        request["interventions"] = [{"at": at, "head": chance.randrange(heads), "do": effect}]
    return request


async def test_concurrent_requests_get_the_same_replies_as_alone(serving: Serving) -> None:
    """In the server's own process; `test_requests_together` asks one of an engine."""
    async with serving(max_cache_bytes=0) as client:
        requests = [some_request(number) for number in range(10)]
        together = await asyncio.gather(*(ask(client, request) for request in requests))
        for request, reply in zip(requests, together, strict=True):
            hold_same(reply, await ask(client, request))


def hold_same(reply: Reply, alone: Reply) -> None:
    assert reply.arrays.keys() == alone.arrays.keys()
    for name, array in alone.arrays.items():
        np.testing.assert_allclose(reply.arrays[name], array, rtol=0, atol=AGREE, err_msg=name)
    for number in ("logprobs", "score"):
        one, other = (each.document["output"].pop(number) for each in (reply, alone))
        np.testing.assert_allclose(one, other, rtol=0, atol=AGREE)
    # Among thousands of tokens, two may be so close that rounding swaps them.
    one, other = (each.document["output"].pop("ranks") for each in (reply, alone))
    np.testing.assert_allclose(one, other, rtol=0.01)
    assert reply.document == alone.document


async def test_more_requests_than_the_queue_holds(serving: Serving) -> None:
    requests = [{"source": f"the cat sat on mat {n}", "select": []} for n in range(12)]
    async with serving(max_queue=2, max_batch=1) as client:
        responses = await asyncio.gather(
            *(client.post("/api/trace", json=request) for request in requests)
        )
        statuses = [response.status_code for response in responses]
        assert set(statuses) == {200, 503}
        busy = next(response for response in responses if response.status_code == 503)
        assert busy.json()["type"] == "urn:headlight:busy"
        assert int(busy.headers["retry-after"]) > 0
        assert (await client.post("/api/trace", json=requests[0])).status_code == 200
