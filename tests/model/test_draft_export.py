"""The CTranslate2 export: written once, exact, and optional if it fails."""

import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from model.adapters.encoder_decoder.drafts import FastDrafter, open_drafter
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.request import Decode, Request
from model.adapters.requests.trace import Trace
from model.bundle import ctranslate2_export
from model.bundle.ctranslate2_export import UnknownToEngineError, exported, specification
from model.bundle.weights import CHECKPOINTS, Bundle, load_bundle
from model.text.tokens import Tokenizer
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer
from tests.model.drafted import SELECT, SENTENCES, answers, assert_same


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No draft fails unless a test says so."""
    yield
    assert not [record for record in caplog.get_records("call") if record.levelno > logging.INFO]


def test_without_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, alone: list[Trace]
) -> None:
    known = {name for name in sys.modules if name.partition(".")[0] == "ctranslate2"}
    for name in known | {"ctranslate2"}:
        monkeypatch.setitem(sys.modules, name, None)
    model = load("en-zh", "cpu", drafts=tmp_path)
    assert isinstance(model, EncoderDecoder)
    assert model.drafter is None
    assert_same(model.run([Request(SENTENCES[1], select=SELECT)]), alone[1:2])


def test_the_weights_stay_what_they_are(bundle: Path, tmp_path: Path) -> None:
    """CTranslate2 quantizes its input in place, so it must get a copy."""
    loaded = load_bundle(bundle)
    before = {name: value.clone() for name, value in loaded.model.state_dict().items()}
    exported(loaded, tmp_path)
    for name, value in loaded.model.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_the_cache_is_written_once(shipped: Bundle, tmp_path: Path) -> None:
    folder = exported(shipped, tmp_path / "new")
    written = (folder / "model.bin").stat().st_mtime_ns
    assert exported(shipped, tmp_path / "new") == folder
    assert (folder / "model.bin").stat().st_mtime_ns == written
    other = replace(shipped, digest="another")
    assert exported(other, tmp_path / "new") != folder


@pytest.mark.parametrize("broken", ["model.bin", "config.json", "shared_vocabulary.json"])
def test_a_broken_cache_is_written_anew(
    shipped: Bundle, tmp_path: Path, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = exported(shipped, tmp_path) / broken
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert open_drafter(shipped, tmp_path)
    assert file.read_bytes() == whole
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    caplog.clear()


def test_what_a_killed_process_left_is_not_taken(shipped: Bundle, tmp_path: Path) -> None:
    folder = tmp_path / f"{shipped.digest}-{ctranslate2_export.STORED}"
    partial = folder.with_suffix(".partial")
    partial.mkdir()
    (partial / "model.bin").write_bytes(b"half")
    assert open_drafter(shipped, tmp_path)
    assert (folder / "model.bin").stat().st_size > 10**6
    assert not partial.exists()


def test_a_cache_that_cannot_be_written(
    tmp_path: Path, alone: list[Trace], caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    model = load("en-zh", "cpu", drafts=tmp_path / "file")
    assert_same(model.run([Request(SENTENCES[1], select=SELECT)]), alone[1:2])
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    caplog.clear()


def made(tokenizer: Tokenizer, **variant: str | int) -> Bundle:
    """Return an untrained model with weights so large that its output varies."""
    sizes = {"d_model": 32, "heads": 4, "d_ff": 64, "encoder_layers": 2, "decoder_layers": 3}
    torch.manual_seed(3)
    config = ModelConfig(vocabulary=len(tokenizer), max_tokens=40, **sizes, **variant)  # type: ignore[arg-type]
    model = Transformer(config).eval()
    for name, parameter in model.named_parameters():
        one = name.endswith("norm.weight")
        torch.nn.init.normal_(parameter, mean=float(one), std=0.25)
        if name.endswith("W_k.bias"):
            torch.nn.init.zeros_(parameter)
    shipped = load_bundle(CHECKPOINTS / "en-zh")
    return replace(shipped, name="made", model=model, tokenizer=tokenizer, digest="made", card="")


@pytest.mark.parametrize(
    "variant",
    [
        {"norm": "post", "positions": "sinusoidal"},
        {"norm": "pre", "positions": "sinusoidal"},
        {"norm": "post", "positions": "learned"},
        {"norm": "pre", "positions": "learned", "encoder_heads": 2},
    ],
)
def test_an_export_is_the_model(
    tokenizer: Tokenizer, tmp_path: Path, variant: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every supported variant scores targets as ours does, without rounding to 8 bits."""
    monkeypatch.setattr(ctranslate2_export, "STORED", "float32")
    bundle = made(tokenizer, **variant)
    drafter = open_drafter(bundle, tmp_path)
    assert isinstance(drafter, FastDrafter)
    requests = [Request(text, decode=Decode(max_tokens=30)) for text in ("A cat sat.", "猫", "dog")]
    traces = answers(bundle, requests)
    scores = drafter.translator.score_batch(
        [[str(token.id) for token in trace.texts["source"]] for trace in traces],
        [[str(token.id) for token in trace.output.tokens] for trace in traces],
    )
    for trace, score in zip(traces, scores, strict=True):
        # CTranslate2 scores an end after every target; a trace has one only if it is finished.
        logprobs = score.log_probs[: len(trace.output.logprobs)]
        assert logprobs == pytest.approx(trace.output.logprobs, abs=1e-3)


@pytest.mark.parametrize(
    "variant",
    [
        {"positions": "rotary"},
        {"positions": "relative"},
        {"positions": "none"},
        {"bias": False},
        {"scoring": "dot"},
        {"encoder_mask": "window-3"},
        {"decoder_mask": "causal & window-4"},
    ],
)
def test_what_the_engine_does_not_know(
    tokenizer: Tokenizer, tmp_path: Path, variant: dict[str, Any]
) -> None:
    bundle = made(tokenizer, **variant)
    with pytest.raises(UnknownToEngineError, match=str(*variant.values()).split()[0]):
        specification(bundle)
    assert open_drafter(bundle, tmp_path) is None
