"""The bundle: written, read back, and rejected if its parts do not fit."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.bundle.weights import CHECKPOINTS, digest_of, load_bundle, save_bundle
from model.errors import FileError
from model.text.tokens import Tokenizer
from model.trace.tensor_tap import BatchTap, Recorder
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer


def copied(bundle: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(bundle, tmp_path / "copy"))


def test_half_precision_comes_back_as_float32(bundle: Path) -> None:
    loaded = load_bundle(bundle)
    for parameter in loaded.model.parameters():
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, parameter.half().float())
    assert not loaded.model.training


def test_keys_are_written_without_their_cancelled_bias(
    tokenizer: Tokenizer, config: ModelConfig, tmp_path: Path
) -> None:
    """The softmax cancels the bias: scores differ, weights and results are the same."""
    torch.manual_seed(0)
    model = Transformer(config).double().eval()
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter, std=3)
    save_bundle(tmp_path, model.state_dict(), config, tokenizer, "Biased", torch.float64)
    found = load_bundle(tmp_path).model
    found.double().load_state_dict(load_file(tmp_path / "weights.safetensors"))
    source, target = torch.arange(20, 54).view(2, 17), torch.arange(60, 86).view(2, 13)
    recorders = [Recorder(("decoder.1.cross.scores", "decoder.1.cross.weights")) for _ in range(2)]
    with torch.inference_mode():
        logits = [
            each(source[:1], target[:1], tap=BatchTap([recorder]))
            for each, recorder in zip((model, found), recorders, strict=True)
        ]
    scores, weights = (
        [recorder.tensors[f"decoder.1.cross.{name}"].value for recorder in recorders]
        for name in ("scores", "weights")
    )
    torch.testing.assert_close(*logits, atol=1e-10, rtol=0)
    torch.testing.assert_close(*weights, atol=1e-10, rtol=0)
    moved = scores[0] - scores[1]  # the same number in every cell of a row
    assert moved.abs().max() > 0.1
    torch.testing.assert_close(moved, moved[..., :1].expand_as(moved), atol=1e-10, rtol=0)
    biases = [value for name, value in found.named_parameters() if name.endswith("W_k.bias")]
    assert len(biases) == 6
    assert not any(bias.any() for bias in biases)


def test_the_digest_covers_everything_that_determines_output(bundle: Path, tmp_path: Path) -> None:
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
    with pytest.raises(FileError, match=r"no tokenizer\.json"):
        load_bundle(copy)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "weights.safetensors"])
def test_a_file_that_is_not_as_it_was_written_is_named(
    bundle: Path, tmp_path: Path, name: str
) -> None:
    copy = copied(bundle, tmp_path)
    assert subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=copy).returncode == 0
    (copy / name).write_bytes((copy / name).read_bytes()[:-1])
    with pytest.raises(ValueError, match=rf"{name}: its SHA-256 is [0-9a-f]{{64}}, but SHA256SUMS"):
        load_bundle(copy)


def test_a_bundle_without_sums_is_accepted(bundle: Path, tmp_path: Path) -> None:
    copy = copied(bundle, tmp_path)
    (copy / "SHA256SUMS").unlink()
    assert load_bundle(copy).digest == digest_of(bundle)


def test_the_shipped_files_are_as_they_were_written() -> None:
    assert (CHECKPOINTS / "en-zh" / "SHA256SUMS").is_file()
    load_bundle(CHECKPOINTS / "en-zh")


def test_parts_that_do_not_fit_are_named(bundle: Path, tmp_path: Path) -> None:
    copy = copied(bundle, tmp_path)
    (copy / "SHA256SUMS").unlink()
    described = json.loads((copy / "config.json").read_text())
    described["config"]["encoder_layers"] = 3
    (copy / "config.json").write_text(json.dumps(described))
    with pytest.raises(ValueError, match="weights do not fit"):
        load_bundle(copy)
    described["config"]["vocabulary"] = 1
    (copy / "config.json").write_text(json.dumps(described))
    with pytest.raises(ValueError, match="subwords, but the config has 1"):
        load_bundle(copy)


def test_directions_are_those_that_were_trained(bundle: Path, tmp_path: Path) -> None:
    copy = copied(bundle, tmp_path)
    trained = copy / "training.json"
    for told, directions in (
        ({}, ("en-zh", "zh-en")),
        ({"directions": ["zh-en"]}, ("zh-en",)),
        ({"directions": ["zh-en", "en-zh"]}, ("en-zh", "zh-en")),
    ):
        trained.write_text(json.dumps(told))
        assert load_bundle(copy).directions == directions
    for wrong in ([], ["en-fr"], ["en-en"]):
        trained.write_text(json.dumps({"directions": wrong}))
        with pytest.raises(ValueError, match="directions must be some of en-zh, zh-en, not"):
            load_bundle(copy)


# Messages of the server to processes that it has started, over its own pipes,
# or in a cluster with a shared token.
BETWEEN_PROCESSES = {
    "app/engine/jobs.py",
    "app/engine/child_process.py",
    "app/scale/replica.py",
    "app/scale/runner.py",
}


def test_no_pickle_in_any_file_that_is_read() -> None:
    root = Path(__file__).parents[2]
    code = [path for room in ("model", "app", "bench") for path in (root / room).rglob("*.py")]
    assert code
    for path in code:
        text = path.read_text()
        if str(path.relative_to(root)) not in BETWEEN_PROCESSES:
            assert not re.search(r"(import|from) pickle|pickle\.|allow_pickle=True", text), path
        assert "torch.load(" not in text, path
        assert "torch.save(" not in text, path


def test_load_takes_a_folder(bundle: Path) -> None:
    adapter = load(bundle, "cpu")
    assert adapter.info.id == "tiny"
    assert adapter.trace("The cat").output.tokens
