"""The terms of scores of models of `transformers`."""

from pathlib import Path

import pytest

from model.adapters.requests.request import Request
from model.errors import InputError
from tests.model.opened_huggingface import opened

pytest.importorskip("transformers")

LONG = "The cat sat on the mat. A dog ran after the cat, and it didn't stop."
# The number of attentions whose scores are split.
SPLIT = {"gpt2": 2, "neox": 2, "llama": 2, "mistral": 2, "qwen3": 2, "gemma3": 2, "gpt-oss": 2}
SPLIT |= {"t5": 8, "bart": 8, "m2m100": 8, "bert": 2, "modernbert": 3}
ROTARY = ["llama", "qwen3", "neox"]


@pytest.mark.parametrize("name", SPLIT)
def test_the_parts_sum_to_the_score(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    known = list(adapter.inside.scores)
    assert len(known) == SPLIT[name]
    two = len(adapter.info.texts) == 2
    cells = [f"{place}.{head}.{query}.2" for place in known for head, query in ((1, 4), (0, 2))]
    request = Request(
        LONG,
        target="A dog ran on a mat" if two else None,
        select=("*.scores", *(f"inside.score.{cell}.*" for cell in cells[:16])),
    )
    short = Request("The cat", target="A dog" if two else None, select=())
    [_, together] = adapter.run([short, request])
    for trace in (adapter.trace(request), together):
        for cell, split in trace.scores.items():
            place, *at = cell.rsplit(".", 3)
            head, query, key = map(int, at)
            scores = trace[f"{place}.scores"].value.double()
            close = 1e-5 * float(scores[scores.isfinite()].abs().max())
            expected = float(scores[head, query, key])
            parts = trace[f"inside.score.{cell}.parts"].value.double()
            assert parts.shape == (len(split.queries), len(split.keys))
            assert float(parts.sum()) + split.offset == pytest.approx(expected, abs=close)
            assert split.score == pytest.approx(expected, abs=close)


def test_relative_positions_are_apart_from_the_product(folders: Path) -> None:
    trace = opened(folders / "t5").trace(
        LONG, target="A dog ran", select=["inside.score.encoder.0.self.1.4.2.*"]
    )
    table = opened(folders / "t5").parameters(["encoder.0.self.pi"])["encoder.0.self.pi"].value
    offset = trace.scores["encoder.0.self.1.4.2"].offset
    assert offset == float(table[1, 2 - 4 + 128])
    assert offset


@pytest.mark.parametrize("name", ["gemma2", "deepseek-v3", "bloom"])
def test_what_is_not_known_is_not_offered(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    place = adapter.info.places[0]
    with pytest.raises(InputError, match="does not support the terms of a score, because"):
        adapter.trace(LONG, select=[f"inside.score.{place}.0.1.1.*"])


def test_a_cell_beyond_the_text_is_named(folders: Path) -> None:
    with pytest.raises(InputError, match=r"key of encoder.0.self must be from 0 to"):
        opened(folders / "bert").trace("The cat", select=["inside.score.encoder.0.self.0.1.50.*"])
