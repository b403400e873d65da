"""Files of others, damaged or hostile: a model opens, or one error names the file."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from model.adapters.huggingface import open_folder as checks
from model.adapters.open_model import open_model
from model.errors import FileError
from tests.model.tiny_huggingface import make

TAUGHT = [{"layer": 0, "head": 1, "rows": "writes", "since": 0}]


@pytest.fixture(scope="module")
def plain(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle without SHA256SUMS, which would name every damaged file."""
    folder = Path(shutil.copytree(bundle, tmp_path_factory.mktemp("plain") / "tiny"))
    (folder / "SHA256SUMS").unlink()
    (folder / "training.json").write_text(json.dumps({"directions": ["en-zh"], "taught": TAUGHT}))
    return folder


@pytest.fixture(scope="module")
def bloom(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make("bloom", tmp_path_factory.mktemp("hf") / "bloom")


def test_any_damaged_file_is_opened_or_named(plain: Path, bloom: Path) -> None:
    """The process has 1 GiB more than it needs for whole files, and a minute."""
    command = [sys.executable, "-m", "tests.model.hostile_files", str(plain), f"hf:{bloom}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    cases = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("[")]
    assert len(cases) > 120
    for file, damage, outcome in cases:
        refused = outcome.startswith(("refused: model: ", f"refused: {file}: "))
        # What transformers does with a wrong value shows only when it builds the model.
        refused |= file == "config.json" and "weights" in outcome
        assert outcome == "opened" or refused, (file, damage, outcome)
        assert "more memory" not in outcome, (file, damage)
    assert sum(outcome == "opened" for *_, outcome in cases) < len(cases) / 2


def edit(path: Path, *steps: str, to: Any) -> None:
    document = inner = json.loads(path.read_text())
    for step in steps[:-1]:
        inner = inner[step]
    inner[steps[-1]] = to
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("encoder_layers", 100_000_000, "encoder_layers must be at most 128, not 100000000"),
        ("encoder_layers", 1e8, "encoder_layers: Input should be a valid integer"),
        ("encoder_layers", 3, "the weights do not fit the config: encoder.2."),
        ("max_tokens", 1_048_576, "max_tokens × d_model must be at most 16777216"),
        ("d_ff", 1_000_000, r"decoder.0.ffn.W_1.bias has the shape \(64,\), but"),
        ("vocabulary", 3_000_000, "subwords, but the config has 3000000"),
        ("d_model", "32", "config.d_model: Input should be a valid integer"),
        ("norm", ["post"], "config.norm: Input should be a valid string"),
        ("code", "import os", "unknown hyperparameters"),
    ],
)
def test_sizes_of_a_bundle_are_compared_before_it_is_built(
    plain: Path, tmp_path: Path, name: str, value: Any, message: str
) -> None:
    copy = Path(shutil.copytree(plain, tmp_path / "copy"))
    edit(copy / "config.json", "config", name, to=value)
    with pytest.raises(FileError, match=message):
        open_model(str(copy), "cpu")


def test_tensors_of_a_bundle_are_those_of_the_config(plain: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(plain, tmp_path / "copy"))
    path = copy / "weights.safetensors"
    weights = load_file(path)
    for changed, message in (
        ({**weights, "more": torch.zeros(1)}, "more has the shape"),
        ({name: value for name, value in weights.items() if "norm" not in name}, "shape None"),
        ({name: value.to(torch.int8) for name, value in weights.items()}, "of the type I8"),
    ):
        save_file(changed, path)
        with pytest.raises(FileError, match=message):
            open_model(str(copy), "cpu")


def test_enormous_files_are_refused_unread(plain: Path, tmp_path: Path) -> None:
    """They have holes, and take no room."""
    for name in ("config.json", "tokenizer.json", "weights.safetensors", "training.json"):
        copy = Path(shutil.copytree(plain, tmp_path / name))
        with (copy / name).open("ab") as file:
            file.truncate(1 << 40)
        with pytest.raises(FileError, match=rf"{name}: it has 1,099,511,627,776 bytes; at most"):
            open_model(str(copy), "cpu")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_layer", 100_000_000, "n_layer must be at most 1000"),
        ("n_layer", 3, "the weights lack 12 of those that the config asks for"),
        ("vocab_size", 1_000_000_000, "asks for a model of .* numbers, but the weights have"),
        ("vocab_size", 301, r"has the shape \(300, 32\), but the config asks for \(301, 32\)"),
        ("vocab_size", 10**400, "vocab_size must be at most"),
        ("n_head", 0, "config.json: "),
        ("transformers_weights", "../other.safetensors", "names its weights"),
        ("architectures", ["AutoModel", "os", "pipeline"], "names no architecture"),
        ("architectures", ["GPT2LMHeadModel"], "config.json: |weights"),
    ],
)
def test_sizes_of_a_hugging_face_folder_are_compared_before_it_is_built(
    bloom: Path, tmp_path: Path, name: str, value: Any, message: str
) -> None:
    copy = Path(shutil.copytree(bloom, tmp_path / "copy"))
    edit(copy / "config.json", name, to=value)
    with pytest.raises(FileError, match=message):
        open_model(f"hf:{copy}", "cpu")


def test_building_ends(bloom: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "STEPS", 1_000)
    with pytest.raises(FileError, match=r"config.json: .* takes too long to build"):
        open_model(f"hf:{bloom}", "cpu")
    assert sys.getprofile() is None


@pytest.mark.parametrize(
    ("shard", "message"),
    [
        ("../other.safetensors", "is not the name of a safetensors file"),
        ("/etc/passwd", "is not the name"),
        ("model.bin", "is not the name"),
        ("gone.safetensors", "has no gone.safetensors"),
        (7, "weight_map.w: Input should be a valid string"),
    ],
)
def test_shards_are_files_of_the_folder(
    bloom: Path, tmp_path: Path, shard: Any, message: str
) -> None:
    copy = Path(shutil.copytree(bloom, tmp_path / "copy"))
    index = {"metadata": {}, "weight_map": {"w": shard}}
    (copy / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(FileError, match=rf"model\.safetensors\.index\.json: .*{message}"):
        open_model(f"hf:{copy}", "cpu")
