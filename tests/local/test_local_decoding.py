"""Decoding in a page takes the server's steps: greedy, beam search, sampling by seed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from app.engine.streamed_replies import DecodeJob
from app.traces.schemas import DecodeRequest
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from tests.local.exported_model import answers, assert_same_lines, node

Json = dict[str, Any]
SENTENCE = "The cat sat on the mat, and it didn't stop."
HEAD_OFF = [{"at": "decoder.1.cross", "head": 3, "do": "zero"}]
BODIES: list[Json] = [
    {"source": SENTENCE},
    {"source": "我很累。", "candidates": 3, "decode": {"max_tokens": 3}},
    {"source": SENTENCE, "decode": {"method": "beam"}},
    {"source": "I see.", "decode": {"method": "beam", "beam": 8, "length_penalty": 2.0}},
    {"source": "她昨天在图书馆看了三个小时的书。", "decode": {"method": "beam", "beam": 1}},
    {"source": SENTENCE, "decode": {"method": "beam", "prefix": [514, 600]}},
    {"source": SENTENCE, "decode": {"method": "sample", "seed": 7}},
    {"source": SENTENCE, "decode": {"method": "sample", "seed": 123456, "temperature": 1.7}},
    {"source": SENTENCE, "decode": {"method": "sample", "top_k": 10, "seed": 1, "prefix": [514]}},
    {"source": SENTENCE, "decode": {"method": "sample", "top_p": 0.8, "seed": 2}},
    {"source": SENTENCE, "decode": {"method": "sample", "top_k": 5, "top_p": 0.7, "seed": 3}},
    {"source": SENTENCE, "decode": {"method": "beam", "beam": 3}, "interventions": HEAD_OFF},
]


def served_lines(served: EncoderDecoder, body: Json) -> list[Json]:
    request = DecodeRequest.model_validate(body)
    job = DecodeJob("en-zh", request.asked(), request.candidates)
    return [json.loads(line) for line in job.lines(served)]


def test_every_step_is_the_server_s(served: EncoderDecoder, exported: Path) -> None:
    replies = answers(exported, [{"path": "/api/decode", **body} for body in BODIES])
    for body, lines in zip(BODIES, replies, strict=True):
        assert isinstance(lines, list), lines
        assert_same_lines(lines, served_lines(served, body), json.dumps(body))


def test_a_trace_follows_the_same_decoding(served: EncoderDecoder, exported: Path) -> None:
    bodies = [{**BODIES[2], "select": []}, {**BODIES[6], "select": []}]
    for body, reply in zip(bodies, answers(exported, bodies), strict=True):
        end = served_lines(served, {key: body[key] for key in ("source", "decode")})[-1]["end"]
        assert reply["output"]["tokens"] == end["output"]["tokens"]
        assert reply["output"]["score"] == pytest.approx(end["output"]["score"], abs=1e-3)


def test_a_prefix_that_cannot_be_written_is_refused(exported: Path) -> None:
    decodes = [{"prefix": [0]}, {"prefix": [10**6]}, {"prefix": [514, 514], "max_tokens": 1}]
    bodies = [{"path": "/api/decode", "source": "a", "decode": decode} for decode in decodes]
    kinds = [reply["problem"] for reply in answers(exported, bodies)]
    assert kinds == ["unknown-token", "unknown-token", "too-long"]


DRAWS = """
import { createRandom } from "./static/js/local/random-numbers.js";
const seeds = JSON.parse(process.argv[1]);
const drawn = seeds.map((seed) => {
  const random = createRandom(seed);
  const numbers = Array.from({ length: 2000 }, () => random.exponential());
  return { numbers, order: createRandom(seed).permutation(50) };
});
console.log(JSON.stringify(drawn));
"""


def test_random_numbers_are_pytorch_s() -> None:
    seeds = [0, 1, 7, 5489, 2**31 - 1]
    script = ["--input-type=module", "--eval", DRAWS, json.dumps(seeds)]
    for seed, drawn in zip(seeds, json.loads(node(*script)), strict=True):
        generator = torch.Generator().manual_seed(seed)
        expected = torch.empty(2000).exponential_(generator=generator)
        np.testing.assert_allclose(drawn["numbers"], expected.numpy(), rtol=1e-6)
        order = torch.randperm(50, generator=torch.Generator().manual_seed(seed))
        assert drawn["order"] == order.tolist()
