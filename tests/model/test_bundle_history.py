"""A bundle's training history must belong to its weights."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
import torch

from model.__main__ import main
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.request import Request
from model.bundle.measurements import (
    LEARNING,
    Learning,
    SnapshotScores,
    WatchedSentence,
    load_learning,
    save,
)
from model.bundle.weights import CHECKPOINTS, load_bundle
from model.measure.attention_history import joined
from tests.model.counting import SHAPE, train, words


@pytest.fixture
def learning(tiny: EncoderDecoder) -> Learning:
    """A history with two invented snapshots of a tiny model."""
    trace = tiny.trace("The cat sat.", target="猫坐在垫子上。")
    tokens = dict(trace.texts)
    example = WatchedSentence("The cat sat.", "en-zh", tokens, trace.output.tokens, ["猫", "坐"])
    weights = {
        f"0.{step}.{name}": (tensor.value * 255).round().to(torch.uint8)
        for step in (0, 10)
        for name, tensor in trace.tensors.items()
    }
    snapshots = [SnapshotScores(step, 2.5, {"en-zh": 1.0}) for step in (0, 10)]
    return Learning(tiny.info.digest, snapshots, [example], weights)


@pytest.fixture
def folder(bundle: Path, tmp_path: Path) -> Path:
    return Path(copytree(bundle, tmp_path / "watched"))


def test_it_comes_with_the_bundle(learning: Learning, folder: Path) -> None:
    assert load(folder, "cpu").learning is None
    save(learning, folder / LEARNING)
    model = load(folder, "cpu")
    assert model.info.examples == 1
    assert model.learning is not None
    assert model.learning.snapshots == learning.snapshots
    assert model.learning.examples[0].texts == ["猫", "坐"]
    for name, weights in learning.weights.items():
        assert torch.equal(model.learning.weights[name], weights)


def test_it_is_refused_beside_other_weights(learning: Learning, folder: Path) -> None:
    save(replace(learning, digest="0" * 64), folder / LEARNING)
    with pytest.raises(ValueError, match="on other weights; run measure history again"):
        load(folder, "cpu")
    assert load(folder, "cpu", measured=False).learning is None


@pytest.mark.parametrize("where", ["0.0.encoder.0.self.weights", "0.10.decoder.1.cross.weights"])
def test_it_is_refused_where_attention_is_missing(
    learning: Learning, folder: Path, where: str
) -> None:
    weights = {name: value for name, value in learning.weights.items() if name != where}
    save(replace(learning, weights=weights), folder / LEARNING)
    with pytest.raises(ValueError, match="does not fit"):
        load(folder, "cpu")


def test_what_is_shipped_has_every_step_once() -> None:
    found = load_learning(CHECKPOINTS / "en-zh" / LEARNING)
    steps = [snapshot.step for snapshot in found.snapshots]
    assert steps == sorted(set(steps))
    for example in found.examples:
        assert len(example.texts) == len(steps)
        assert len(example.written) == len(example.tokens["target"])


def test_a_history_is_recorded_and_extended(data: list[str], counted: Path, tmp_path: Path) -> None:
    bundle = counted / "bundle"
    (bundle / "examples.txt").write_text("one two three\n六五\n", "utf-8")
    step = json.loads((bundle / "training.json").read_text())["step"]
    early = [str(counted / "snapshots" / f"{n:06d}.safetensors") for n in (0, 100)]
    main(
        ["measure", "history", str(bundle), "--snapshots", *early, "--final", str(step), *data[2:]]
    )
    found = load_learning(bundle / "learning.safetensors")
    assert [snapshot.step for snapshot in found.snapshots] == [0, 100, step]
    first, _, last = found.snapshots
    assert first.loss is not None
    assert last.loss is not None
    assert first.loss > last.loss
    assert last.bleu["en-zh"] > 90 > first.bleu["en-zh"]
    one, two = found.examples
    assert (one.direction, one.texts[-1]) == ("en-zh", "一二三")
    assert two.texts[-1] == "six five"
    # The last snapshot is the bundle itself and reads its own output: equal to the byte.
    adapter = load(bundle, "cpu")
    trace = adapter.run([Request(one.source, "en-zh", target=one.texts[-1])])[0]
    assert list(trace.texts["source"]) == one.tokens["source"]
    assert list(trace.output.tokens) == one.written
    kept = found.of(0)
    assert len(kept) == 3 * len(trace.tensors)
    for name, tensor in trace.tensors.items():
        expected = (tensor.value * 255).round().to(torch.uint8)
        assert torch.equal(kept[f"{step}.{name}"], expected)
        assert kept[f"0.{name}"].shape == expected.shape
        assert not torch.equal(kept[f"0.{name}"], expected)

    # A continued run: the earlier steps are kept, with the same sentences and targets.
    (bundle / "examples.txt").unlink()
    more = words("--raw --batch 1500 --warmup 40 --augment 0 --average 1 --learning-rate 0.2")
    more += ["--start-from", str(bundle), "--steps", str(step + 10), *SHAPE]
    further = train([str(tmp_path / "further"), *data, *more])
    shutil.copy(bundle / "learning.safetensors", further)
    main(["measure", "history", str(further), "--extend", "--final", str(step + 10), *data[2:]])
    longer = load_learning(further / "learning.safetensors")
    assert longer.digest == load_bundle(further).digest != found.digest
    assert [snapshot.step for snapshot in longer.snapshots] == [0, 100, step, step + 10]
    assert longer.snapshots[:3] == found.snapshots
    for before, after in zip(found.examples, longer.examples, strict=True):
        assert after.texts[:3] == before.texts
        assert (after.tokens, after.written) == (before.tokens, before.written)
    for name, weights in found.weights.items():
        assert torch.equal(longer.weights[name], weights)
    assert len(longer.of(1)) == 4 * len(trace.tensors)
    maps = (longer.of(0)[f"{at}.encoder.0.self.weights"] for at in (step, step + 10))
    assert not torch.equal(*maps)
    with pytest.raises(ValueError, match=rf"must increase, not 0, 100, {step}, {step + 10}, 9"):
        main(["measure", "history", str(further), "--extend", "--final", "9", *data[2:]])


def test_other_sentences_are_not_added(learning: Learning) -> None:
    example = learning.examples[0]
    other = replace(example, tokens={**example.tokens, "target": example.written})
    with pytest.raises(ValueError, match="has different sentences or targets"):
        joined(learning, replace(learning, examples=[other]))
