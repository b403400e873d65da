"""A sweep in a page has the server's numbers: heads, sublayers, pairs, and patches."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.engine.streamed_replies import SweepJob
from app.traces.service import SweepRequest
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.sweep_changes import aligned
from tests.local.exported_model import answers, assert_same_lines, node

Json = dict[str, Any]
SENTENCE = "I see a cat."
OTHER = {"patch": {"source": "I see the dog."}}
HEAD_OFF = [{"at": "encoder.1.self", "head": 3, "do": "zero"}]
CROSS = ["decoder.1.cross"]
BODIES: list[Json] = [
    {"source": SENTENCE},
    {"source": SENTENCE, "effect": "mean", "row": 1},
    {"source": SENTENCE, "over": "sublayers", "against": 600},
    {"source": "I see.", "target": "我明白。", "effect": "uniform", "interventions": HEAD_OFF},
    {"source": "I see.", "effect": "zero", "over": "pairs", "among": CROSS},
    {"source": SENTENCE, "effect": OTHER},
    {"source": SENTENCE, "effect": OTHER, "over": "positions", "row": 2},
    {"source": SENTENCE, "effect": OTHER, "over": "sublayers"},
]


def served_lines(served: EncoderDecoder, body: Json) -> list[Json]:
    sweep = SweepRequest.model_validate(body)
    request = replace(sweep.asked(), target=sweep.target)
    among = None if sweep.among is None else tuple(sweep.among)
    job = SweepJob("en-zh", request, sweep.change(), sweep.row, sweep.over, sweep.against, among)
    return [json.loads(line) for line in job.lines(served)]


def together(lines: list[Json]) -> list[Any]:
    """Return the lines with all changes as one: how many are in a line is not said."""
    start, *batches, end = lines
    return [start, [change for batch in batches for change in batch["changes"]], end]


def test_every_effect_is_the_server_s(served: EncoderDecoder, exported: Path) -> None:
    replies = answers(exported, [{"path": "/api/sweep", **body} for body in BODIES])
    for body, lines in zip(BODIES, replies, strict=True):
        assert isinstance(lines, list), lines
        assert lines[-2]["done"] == lines[0]["start"]["changes"]
        expected = together(served_lines(served, body))
        assert_same_lines(together(lines), expected, json.dumps(body))


def test_what_cannot_be_swept_is_refused(exported: Path) -> None:
    refused: list[tuple[Json, str]] = [
        ({"effect": "double"}, "unknown-effect"),
        ({"effect": "mean", "over": "sublayers"}, "unknown-value"),
        ({"row": 99}, "out-of-range"),
        ({"over": "pairs", "among": ["encoder.9.self"]}, "unknown-place"),
        (
            {"effect": {"patch": {**OTHER["patch"], "to": {"at": "decoder.2.cross.q"}}}},
            "unsupported",
        ),
    ]
    bodies = [{"path": "/api/sweep", "source": SENTENCE, **body} for body, _ in refused]
    replies = answers(exported, bodies)
    assert [reply["problem"] for reply in replies] == [kind for _, kind in refused]


PAIRS = """
import { aligned } from "./static/js/local/sweep.js";
const cases = JSON.parse(process.argv[1]);
console.log(JSON.stringify(cases.map(([theirs, ours]) => aligned(theirs, ours))));
"""


def test_tokens_are_paired_as_on_the_server() -> None:
    cases = [
        ([1, 2, 3, 4], [1, 2, 3, 4]),
        ([1, 2, 3, 4], [1, 5, 6, 3, 4]),
        ([7, 1, 1, 2, 9], [1, 2, 1, 1, 2]),
        ([1, 2], []),
        ([5, 1, 2, 3, 1, 2], [1, 2, 8, 1, 2, 3]),
    ]
    mine = json.loads(node("--input-type=module", "--eval", PAIRS, json.dumps(cases)))
    assert mine == [[list(pair) for pair in aligned(*case)] for case in cases]
