"""Heads that a run has supervised to align do align, and are listed."""

import json
from pathlib import Path

import pytest

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.bundle.measurements import READS, WRITES, Taught
from model.measure.word_alignment import AlignedPair, aligned, error_rate, kept
from tests.model.counting import COUNTING, SHAPE, WORDS, train


def test_heads_are_taught_to_align(data: list[str], counted: Path, tmp_path: Path) -> None:
    """For a word-for-word translation, the right alignment is the diagonal."""
    bundle = counted / "bundle"
    adapter = load(bundle, "cpu")
    assert isinstance(adapter, EncoderDecoder)
    assert adapter.info.taught == (Taught(0, 0, "writes", 3), Taught(0, 1, "reads", 3))
    said = [["three", "one", "six"], ["two", "five"], ["four", "three", "one", "two"]]
    links = [frozenset((i, i) for i in range(len(words))) for words in said]
    pairs = [
        AlignedPair(tuple(words), tuple(WORDS[word] for word in words), sure, sure)
        for words, sure in zip(said, links, strict=True)
    ]
    for direction, ways in (("en-zh", pairs), ("zh-en", [pair.swapped() for pair in pairs])):
        found = aligned(adapter, ways, direction)
        assert error_rate(map(kept, found["0.0", WRITES]), ways) < 0.1
        assert error_rate(map(kept, found["0.1", READS]), ways) < 0.1

    # The guide's weight may change on resuming. The record says since when heads are supervised.
    steps = json.loads((bundle / "training.json").read_text())["step"]
    more = ["--steps", str(steps + 1), "--epochs", "99", "--guide", "2"]
    bundle = train([str(counted), *data, *COUNTING, *SHAPE, *more])
    assert json.loads((bundle / "training.json").read_text())["step"] == steps + 1
    after = ["--raw", "--steps", str(steps + 2), "--start-from", str(counted)]
    bundle = train([str(tmp_path / "after"), *data, *after, *SHAPE])
    assert [
        one["since"] for one in json.loads((bundle / "training.json").read_text())["taught"]
    ] == [3, 3]
    before = ["--raw", "--steps", "2", *SHAPE, "--guide", "1", "--guide-from", "3"]
    bundle = train([str(tmp_path / "before"), *data, *before])
    assert json.loads((bundle / "training.json").read_text())["taught"] == []


def test_one_head_cannot_be_guided(data: list[str], tmp_path: Path) -> None:
    line = [str(tmp_path), *data, "--raw", *SHAPE, "--guide", "1"]
    with pytest.raises(ValueError, match="2 heads, not 1"):
        train([*line, "--heads", "1"])
    assert not (tmp_path / "run.json").exists()
    with pytest.raises(ValueError, match=r"guide must be at least 0, not -1\.0"):
        train([*line, "--guide", "-1"])
