"""A request answered in a page's JavaScript is the one that the server answers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.engine.reply_formats import trace_reply
from app.traces.schemas import TraceRequest
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Request
from model.errors import InputError
from model.trace.interventions import Cell, Intervention
from tests.local.exported_model import answers

Json = dict[str, Any]
SENTENCES = [
    "I see.",
    "我很累。",
    "The cat sat on the mat, and it didn't stop.",
    "Did they say who wrote the letter that we found in the old house?",
    "她昨天在图书馆看了三个小时的书，然后去吃饭。",
    "  Zoë's   naïve café — ＡＢＣ１２３ 🐈‍⬛ <pad> e\u0301\u0323x ",
    "PLEASE DO NOT TOUCH. OK?",
    "這個東西很貴，我不買了。",
    "看著 we saw 著名的 2026 年",
    "a",
]
NAMES = ("encoder.0.self.weights", "encoder.2.self.weights", "decoder.1.self.weights")
SELECT = [*NAMES, *(f"decoder.{layer}.cross.weights" for layer in range(3)), "decoder.2.ffn.norm"]
PADDED = [*SELECT, "encoder.0.self.mask", "decoder.1.cross.mask"]
SELECT += ["encoder.1.self.q", "decoder.1.self.mask", "decoder.candidates", "decoder.probabilities"]


def assert_same(mine: Json, served: EncoderDecoder, request: Request) -> None:
    [trace] = served.run([request])
    reply = trace_reply(trace, "id", "en-zh")
    document = reply.document
    assert mine["direction"] == document["direction"]
    for text, tokens in document["tokens"].items():
        assert mine["tokens"][text] == [dict(token) for token in tokens], request.source
    for name in ("text", "tokens", "finished"):
        assert mine["output"][name] == document["output"][name], request.source
    for name in ("logprobs", "score"):
        np.testing.assert_allclose(mine["output"][name], document["output"][name], atol=1e-3)
    assert {*mine["tensors"]} == {*document["tensors"]}
    for name, described in document["tensors"].items():
        tensor, numbers = mine["tensors"][name], reply.arrays[name]
        assert tensor["dims"] == list(described["dims"])
        assert tensor["over"] == described["over"]
        assert tensor["shape"] == list(described["shape"])
        values = np.array(tensor["data"], dtype=float).reshape(numbers.shape)
        if name == "decoder.candidates":
            assert (values == numbers).mean() > 0.97
        else:
            largest = max(1.0, float(np.abs(numbers.astype(float)).max()))
            np.testing.assert_allclose(values, numbers, atol=1e-4 * largest, rtol=0, err_msg=name)
    for id_, piece in mine["pieces"].items():
        assert piece["text"] == served.token(int(id_)).text


def test_sentences(served: EncoderDecoder, exported: Path) -> None:
    replies = answers(exported, [{"source": text, "select": SELECT} for text in SENTENCES])
    for text, reply in zip(SENTENCES, replies, strict=True):
        assert_same(reply, served, Request(text, select=tuple(SELECT)))


CHANGES: list[tuple[Json, Intervention]] = [
    (
        {"at": "encoder.1.self", "head": 3, "do": "zero"},
        Intervention("encoder.1.self", "zero", head=3),
    ),
    ({"at": "decoder.1.cross", "do": "uniform"}, Intervention("decoder.1.cross", "uniform")),
    (
        {"at": "encoder.0.self", "head": 5, "do": "mean"},
        Intervention("encoder.0.self", "mean", head=5),
    ),
    (
        {"at": "decoder.1.cross", "head": 3, "do": {"set": [2, 1, 0.5]}},
        Intervention("decoder.1.cross", "set", head=3, value=Cell(2, 1, 0.5)),
    ),
    (
        {"at": "decoder.2.self", "head": 0, "do": {"cut": [[3, 0], [4, 0], [4, 1]]}},
        Intervention("decoder.2.self", "cut", head=0, value=((3, 0), (4, 0), (4, 1))),
    ),
    (
        {"at": "encoder.2.self", "head": 1, "do": {"temperature": 3.5}},
        Intervention("encoder.2.self", "temperature", head=1, value=3.5),
    ),
    ({"at": "source", "do": {"mask": 2}}, Intervention("source", "mask", value=2)),
    ({"at": "target", "do": {"mask": 1}}, Intervention("target", "mask", value=1)),
    (
        {"at": "decoder.0.ffn.hidden", "units": [3, 7, 900], "do": {"fill": 2}},
        Intervention("decoder.0.ffn.hidden", "fill", value=2, units=(3, 7, 900)),
    ),
    (
        {"at": "encoder.1.ffn.output", "rows": [1, 4], "do": {"scale": -1.5}},
        Intervention("encoder.1.ffn.output", "scale", value=-1.5, rows=(1, 4)),
    ),
    ({"at": "source.position", "do": "drop"}, Intervention("source.position", "drop")),
    (
        {"at": "decoder.1.cross.residual", "do": "drop"},
        Intervention("decoder.1.cross.residual", "drop"),
    ),
    (
        {"at": "decoder.1.self.k", "head": 2, "rows": [0, 3], "do": "zero"},
        Intervention("decoder.1.self.k", "zero", head=2, rows=(0, 3)),
    ),
]
SENTENCE = SENTENCES[2]
NEW = {"source": "A longer sentence."}
OTHER = "The dog slept in the house, and she didn't move."
ROWS = [[1, 2], [2, 1]]
# Their values are numbers of a run, or of an order.
COMPUTED: list[list[Json]] = [
    [{"at": "source.position", "do": {"shuffle": 3}}],
    [{"at": "decoder.1.cross", "head": 3, "do": {"set": [2, 1, 0.5], "renormalise": True}}],
    [
        {"at": "source.position", "do": {"shuffle": 9}},
        {"at": "encoder.0.self", "do": {"set": [2, 1, 0.3], "renormalise": True}},
        {"at": "encoder.0.self", "head": 2, "do": {"temperature": 2}},
        {"at": "decoder.0.self", "head": 1, "do": {"set": [1, 0, 1], "renormalise": True}},
    ],
    [{"at": "encoder.0.self", "head": 2, "do": {"freeze": {"source": OTHER}}}],
    [{"at": "decoder.1.cross", "do": {"freeze": {"source": OTHER, "target": "狗跑了。"}}}],
    [{"at": "decoder.1.cross.mix", "head": 4, "do": {"patch": {"source": OTHER, "rows": ROWS}}}],
    [{"at": "encoder.2.ffn.norm", "do": {"patch": {"source": OTHER, "rows": ROWS}}}],
    [{"at": "decoder.0.cross.k", "head": 1, "do": {"patch": {"source": OTHER, "rows": ROWS}}}],
    [
        {
            "at": "encoder.1.ffn.output",
            "rows": [2],
            "do": {
                "add": {
                    "to": {"source": OTHER, "row": 2},
                    "minus": {"source": SENTENCE, "row": 2},
                    "times": 1.5,
                }
            },
        }
    ],
]


def test_changes_act_on_decoding_and_on_the_trace(served: EncoderDecoder, exported: Path) -> None:
    several = [CHANGES[0], CHANGES[4], CHANGES[6], CHANGES[9]]
    cases = [[change] for change in CHANGES] + [several]
    requests: list[Json] = [
        {"source": SENTENCE, "select": SELECT, "interventions": [json for json, _ in case]}
        for case in cases
    ]
    for case, reply in zip(cases, answers(exported, requests), strict=True):
        made = tuple(intervention for _, intervention in case)
        assert_same(reply, served, Request(SENTENCE, interventions=made, select=tuple(SELECT)))


def test_changes_take_numbers_of_other_runs(served: EncoderDecoder, exported: Path) -> None:
    requests: list[Json] = [
        {"source": SENTENCE, "select": SELECT, "interventions": changes} for changes in COMPUTED
    ]
    for body, reply in zip(requests, answers(exported, requests), strict=True):
        request = TraceRequest.model_validate(body).request(SELECT, [])
        served.validate(request)
        assert_same(reply, served, request)


LENS = [f"inside.lens.{name}" for name in ("probabilities", "written")]
PARTS = ["self", "cross", "ffn", "bias", "norm", "embedding", "position", "total"]
EXPLAINED = [*LENS, *(f"inside.logit.{part}" for part in PARTS)]
EXPLAINED += [f"inside.contrast.runner-up.{part}" for part in (*PARTS, "lens", "candidates")]
EXPLAINED += ["inside.contrast.700.lens", "inside.nearest.cosines", "encoder.0.self.weights"]


def test_what_is_computed_from_a_run(served: EncoderDecoder, exported: Path) -> None:
    request: Json = {"source": SENTENCE, "select": EXPLAINED}
    dropped = [{"at": "decoder.1.cross.residual", "do": "drop"}]
    mine, padded, changed = answers(
        exported, [request, {**request, "pad_to": 30}, {**request, "interventions": dropped}]
    )
    assert_same(mine, served, Request(SENTENCE, select=tuple(EXPLAINED)))
    assert padded["problem"] == changed["problem"] == "unsupported"


def test_targets_directions_and_thumbnails(served: EncoderDecoder, exported: Path) -> None:
    requests: list[Json] = [
        {"source": "I see.", "target": "我明白。", "select": SELECT},
        {"source": "Hola", "direction": "zh-en", "select": SELECT},
        {"source": "I see.", "select": ["encoder.0.self.weights:uint8"]},
        {"source": "I see a cat.", "decode": {"max_tokens": 3}, "select": []},
        {"source": "I see.", "decode": {"prefix": [514]}, "select": SELECT},
        {"source": "He sleeps.", "pad_to": 10, "select": PADDED},
    ]
    scored, other, coarse, short, begun, padded = answers(exported, requests)
    assert_same(scored, served, Request("I see.", target="我明白。", select=tuple(SELECT)))
    assert_same(padded, served, Request("He sleeps.", pad_to=10, select=tuple(PADDED)))
    assert_same(other, served, Request("Hola", direction="zh-en", select=tuple(SELECT)))
    full = served.trace("I see.")["encoder.0.self.weights"]
    bytes_ = np.array(coarse["tensors"]["encoder.0.self.weights:uint8"]["data"])
    assert np.abs(bytes_ - np.asarray(full).ravel() * 255).max() <= 0.51
    assert len(short["output"]["tokens"]) == 3
    assert not short["output"]["finished"]
    assert begun["output"]["tokens"][0]["id"] == 514


def kind(served: EncoderDecoder, **fields: Any) -> str:
    with pytest.raises(InputError) as raised:
        served.validate(Request(**fields))
    return raised.value.kind


def test_what_cannot_be_run_says_why(served: EncoderDecoder, exported: Path) -> None:
    long = "cat " * 130
    refused: list[tuple[Mapping[str, Any], str]] = [
        ({"source": " "}, kind(served, source=" ")),
        ({"source": long}, kind(served, source=long)),
        ({"source": "a", "direction": "en-fr"}, kind(served, source="a", direction="en-fr")),
        ({"source": "a", "pad_to": 2}, kind(served, source="a", pad_to=2)),
        ({"source": "a", "select": ["no.such"]}, kind(served, source="a", select=("no.such",))),
        (
            {"source": "a", "interventions": [{"at": "target.position", "do": {"shuffle": 1}}]},
            "unknown-place",
        ),
        (
            {"source": "a", "interventions": [{"at": "encoder.0.self.mix", "do": {"patch": NEW}}]},
            "does-not-fit",
        ),
        (
            {"source": "a", "interventions": [{"at": "encoder.9.self", "do": "zero"}]},
            "unknown-place",
        ),
    ]
    replies = answers(exported, [dict(request) for request, _ in refused])
    assert [reply.get("problem") for reply in replies] == [problem for _, problem in refused]
    assert replies[1]["excess"]["limit"] == 128
    assert long[: replies[1]["excess"]["fits"]].count("cat") == 126
