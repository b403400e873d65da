"""The bundle: written, read back, and honest about what does not fit."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from model.adapters.native import load
from model.bundle.weights import digest_of, load_bundle


def copied(bundle: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(bundle, tmp_path / "copy"))


def test_half_precision_comes_back_as_float32(bundle: Path) -> None:
    loaded = load_bundle(bundle)
    for parameter in loaded.model.parameters():
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, parameter.half().float())
    assert not loaded.model.training


def test_the_digest_is_of_what_decides_the_answers(bundle: Path, tmp_path: Path) -> None:
    copy = copied(bundle, tmp_path)
    (copy / "README.md").write_text("A card.")
    assert digest_of(copy) == digest_of(bundle)
    assert load_bundle(copy).card == "A card."
    weights = copy / "weights.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert digest_of(copy) != digest_of(bundle)


def test_what_is_missing_is_named(bundle: Path, tmp_path: Path) -> None:
    copy = copied(bundle, tmp_path)
    (copy / "tokenizer.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"no tokenizer\.json"):
        load_bundle(copy)


def test_parts_that_do_not_fit_are_named(bundle: Path, tmp_path: Path) -> None:
    copy = copied(bundle, tmp_path)
    described = json.loads((copy / "config.json").read_text())
    described["config"]["encoder_layers"] = 3
    (copy / "config.json").write_text(json.dumps(described))
    with pytest.raises(ValueError, match="weights do not fit"):
        load_bundle(copy)
    described["config"]["vocabulary"] = 1
    (copy / "config.json").write_text(json.dumps(described))
    with pytest.raises(ValueError, match="subwords, the config says 1"):
        load_bundle(copy)


def test_no_pickle_anywhere() -> None:
    root = Path(__file__).parents[2]
    code = [path for room in ("model", "app", "bench") for path in (root / room).rglob("*.py")]
    assert code
    for path in code:
        text = path.read_text()
        assert "pickle" not in text.replace("allow_pickle=False", ""), path
        assert "torch.load(" not in text, path
        assert "torch.save(" not in text, path


def test_load_takes_a_folder(bundle: Path) -> None:
    adapter = load(bundle, "cpu")
    assert adapter.info.id == "tiny"
    assert adapter.trace("The cat").output.tokens
