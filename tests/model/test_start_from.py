"""A run that continues from another one, or from a bundle."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.adapters.requests.request import Decode
from model.errors import FileError
from model.train.metrics import translate
from model.train.run_state import take_over
from tests.model.counting import SHAPE, train, words

OPTIONS = words("--raw --batch 1500 --warmup 60 --every 50 --average 2 --augment 0")


def training(bundle: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((bundle / "training.json").read_text())
    return told


def test_a_run_is_taken_over(counted: Path, data: list[str], tmp_path: Path) -> None:
    steps = training(counted / "bundle")["step"]
    more = [*OPTIONS, "--augment", "1", *SHAPE, "--start-from", str(counted), "--steps"]
    bundle = train([str(tmp_path / "new"), *data, *more, str(steps + 5)])
    assert training(bundle)["step"] == steps + 5
    assert training(bundle)["history"][0]["step"] == 50
    assert translate(load(bundle, "cpu"), ["three one"], "en-zh", Decode()) == ["三一"]

    # Continued at its end, at a step with a look: that look repeats the last row.
    same = train([str(tmp_path / "same"), *data, *more, str(steps), "--every", "1"])
    assert training(same)["history"][-1]["step"] == steps


def test_a_bundle_is_trained_further(counted: Path, data: list[str], tmp_path: Path) -> None:
    """Its vocabulary, weights and steps are copied; it has no moments."""
    steps = training(counted / "bundle")["step"]
    take_over(counted / "bundle", tmp_path / "state")
    begun = load_file(tmp_path / "state" / "state.safetensors")
    weights = load_file(counted / "bundle" / "weights.safetensors")
    assert {f"model.{name}" for name in weights} == begun.keys()
    assert all(torch.equal(begun[f"model.{name}"], w.float()) for name, w in weights.items())

    more = [*OPTIONS, *SHAPE, "--start-from", str(counted / "bundle"), "--steps", str(steps + 5)]
    bundle = train([str(tmp_path / "new"), *data, *more, "--vocabulary", "99"])
    assert (bundle / "tokenizer.json").read_text() == (counted / "tokenizer.json").read_text()
    assert training(bundle)["step"] == steps + 5
    assert training(bundle)["tokens"] > training(counted / "bundle")["tokens"]
    losses = [look["dev"] for look in training(bundle)["history"]]
    assert losses[-1] < training(counted / "bundle")["best"] + 0.1  # no step back to a beginner
    assert translate(load(bundle, "cpu"), ["three one"], "en-zh", Decode()) == ["三一"]

    # A bundle that does not say how it was trained begins at step 0.
    (counted / "bundle" / "training.json").unlink()
    more[-1] = "1"
    assert training(train([str(tmp_path / "anew"), *data, *more]))["step"] == 1


def test_runs_that_cannot_be_continued_are_refused(
    counted: Path, data: list[str], tmp_path: Path
) -> None:
    more = [*OPTIONS, *SHAPE, "--start-from"]
    with pytest.raises(FileError, match=r"neither a run .* nor a bundle"):
        train([str(tmp_path / "none"), *data, *more, str(tmp_path)])
    assert not (tmp_path / "none" / "run.json").exists()
    with pytest.raises(ValueError, match="a model of another shape"):
        train([str(tmp_path / "wide"), *data, *more, str(counted), "--d-ff", "128"])


def test_a_run_taken_over_is_softened(data: list[str], tmp_path: Path) -> None:
    """W_q and W_k are halved; their moments and everything else are the old run's."""
    options = words("--raw --steps 2 --batch 400 --warmup 2 --augment 0")
    train([str(tmp_path / "old"), *data, *options, *SHAPE])
    take_over(tmp_path / "old", tmp_path / "new", 0.5)
    old, new = (load_file(tmp_path / name / "state.safetensors") for name in ("old", "new"))
    halved = {name for name in old if name.startswith("model.") and re.search(r"W_[qk]\.", name)}
    assert len(halved) == 3 * 2 * 2  # attentions, of each W_q and W_k, of each weight and bias
    for name, value in old.items():
        assert torch.equal(new[name], value * 0.5 if name in halved else value)
