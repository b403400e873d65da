"""What a bundle holds of how it was learned is of its own weights, or it is refused."""

from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
import torch

from model.adapters import Native, load
from model.checkpoint import CHECKPOINTS
from model.learned import Example, Learning, Snapshot, load_learning, save, sides
from model.measured import LEARNING


@pytest.fixture
def learning(tiny: Native) -> Learning:
    """Two made-up snapshots of a tiny model."""
    trace = tiny.trace("The cat sat.", target="猫坐在垫子上。")
    tokens = {"source": trace.source, "target": trace.target}
    example = Example("The cat sat.", "en-zh", tokens, trace.output.tokens, ["猫", "坐"])
    weights = {
        f"0.{step}.{name}": (tensor.value * 255).round().to(torch.uint8)
        for step in (0, 10)
        for name, tensor in trace.tensors.items()
    }
    snapshots = [Snapshot(step, 2.5, {"en-zh": 1.0}) for step in (0, 10)]
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
    with pytest.raises(ValueError, match=r"of other weights; run model\.learning again"):
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


def test_sides_are_those_of_a_trace(tiny: Native) -> None:
    for name, tensor in tiny.trace("The cat sat.").tensors.items():
        place = name.removesuffix(".weights")
        assert dict(zip(("query", "key"), sides(place), strict=True)) == tensor.over


def test_what_is_shipped_has_every_step_once() -> None:
    found = load_learning(CHECKPOINTS / "en-zh" / LEARNING)
    steps = [snapshot.step for snapshot in found.snapshots]
    assert steps == sorted(set(steps))
    for example in found.examples:
        assert len(example.texts) == len(steps)
        assert len(example.written) == len(example.tokens["target"])
