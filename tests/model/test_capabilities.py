"""A model declares its capabilities; requests for others are rejected by name."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.model_info import CAPABILITIES, REASONS
from model.adapters.requests.request import Request
from model.adapters.sweep import check as check_sweep
from model.bundle.weights import CHECKPOINTS, save_bundle
from model.errors import InputError
from model.text.tokens import Tokenizer
from model.trace.interventions import Intervention
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer

MEASURED = {"mean", "learning", "chat", "pair"}
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pre(
    tokenizer: Tokenizer, config: ModelConfig, tmp_path_factory: pytest.TempPathFactory
) -> EncoderDecoder:
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("bundle") / "pre"
    config = replace(config, norm="pre")
    save_bundle(folder, Transformer(config).state_dict(), config, tokenizer, "Pre-norm")
    loaded = load(folder, "cpu")
    assert isinstance(loaded, EncoderDecoder)
    return loaded


def test_the_shipped_model_has_all_capabilities() -> None:
    able = load(CHECKPOINTS / "en-zh", "cpu").info.capabilities
    assert able == set(CAPABILITIES) - {"chat", "pair"}


def test_a_pre_norm_model_has_the_same_capabilities(
    pre: EncoderDecoder, tiny: EncoderDecoder
) -> None:
    assert tiny.info.capabilities == set(CAPABILITIES) - MEASURED
    assert tiny.info.capabilities == pre.info.capabilities


def test_a_pre_norm_model_traces_and_decodes(pre: EncoderDecoder) -> None:
    trace = pre.trace("The cat sat.", select=["*", "inside.*"], summarise="*")
    ids = [torch.tensor([[token.id for token in tokens]]) for tokens in trace.texts.values()]
    with torch.no_grad():
        logprobs = pre.model(*ids)[0].log_softmax(-1)
    written = [token.id for token in trace.output.tokens]
    expected = logprobs[range(len(written)), written]
    torch.testing.assert_close(torch.tensor(trace.output.logprobs), expected, atol=1e-5, rtol=0)
    *_, last = pre.decode("The cat sat.").steps
    assert list(last.written[0].ids) == written
    assert trace.summaries.keys() == set(pre.info.places)


def test_what_is_missing_has_a_reason(tiny: EncoderDecoder) -> None:
    missing = {
        "mean": "no-means",
        "learning": "no-snapshots",
        "chat": "no-template",
        "pair": "source-and-target",
    }
    assert dict(tiny.info.missing) == missing
    with pytest.raises(InputError, match=r"has no means of its heads, because the means"):
        tiny.trace("A", interventions=[ZERO])


def test_the_page_has_words_for_every_reason() -> None:
    script = (ROOT / "static/js/workspace/main-figure.js").read_text()
    assert set(re.findall(r'^  "([a-z-]+)": ', script, re.M)) == set(REASONS)


ZERO = Intervention("encoder.0.self", "mean", 0)
ASKING: dict[str, tuple[Callable[[EncoderDecoder], Any], str]] = {
    "decode": (lambda model: model.decode("The cat"), "model"),
    "score": (lambda model: model.trace("The cat", target="猫"), "target"),
    "sweep": (lambda model: check_sweep(model, Request("The cat"), "zero"), "model"),
    "parameters": (lambda model: model.parameters(["encoder.0.self.W_q"]), "select"),
    "lens": (lambda model: model.trace("The cat", select=["*.q", "inside.lens.*"]), "select[1]"),
    "contributions": (lambda model: model.trace("A", select="inside.logit.self"), "select[0]"),
    "relevance": (lambda model: model.trace("A", select="inside.relevance.*"), "select[0]"),
    "attribution": (lambda model: model.trace("A", select="inside.occlusion"), "select[0]"),
    "scores": (
        lambda model: model.trace("A", select="inside.score.encoder.0.self.0.0.0.*"),
        "select[0]",
    ),
    "mean": (lambda model: model.trace("A", interventions=[ZERO]), "interventions[0].do"),
}


@pytest.mark.parametrize("capability", ASKING)
def test_missing_capabilities_are_named(
    tiny: EncoderDecoder, monkeypatch: pytest.MonkeyPatch, capability: str
) -> None:
    ask, field = ASKING[capability]
    if capability not in MEASURED:
        ask(tiny)
    lacking = replace(tiny.info, capabilities=tiny.info.capabilities - {capability})
    monkeypatch.setattr(tiny, "info", lacking)
    with pytest.raises(InputError, match=r"this model (cannot|does not|has no)") as caught:
        ask(tiny)
    assert caught.value.field == field
    assert caught.value.kind == CAPABILITIES[capability][1]
