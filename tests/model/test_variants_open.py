"""A bundle of any variant loads, answers what it declares, and rejects the rest by name."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.model_info import CAPABILITIES
from model.adapters.requests.request import Request
from model.adapters.sweep import sweep
from model.bundle.weights import save_bundle
from model.errors import InputError
from model.text.tokens import Tokenizer
from model.transformer.config import ModelConfig
from model.transformer.positions import POSITIONS
from model.transformer.scoring import SCORINGS
from model.transformer.stacks import Transformer

VARIANTS = [
    *({"positions": name} for name in POSITIONS),
    *({"scoring": name} for name in SCORINGS),
    {"positions": "relative", "max_offset": 3, "scoring": "additive", "norm": "pre"},
    {"encoder_mask": "window-2", "decoder_mask": "causal & window-3", "heads": 1},
    {"heads": 16, "positions": "learned-each-layer", "norm": "pre"},
    {"bias": False},
    {"bias": False, "positions": "learned-on-qk", "scoring": "additive-bias", "norm": "pre"},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_variant_opens(
    variant: dict[str, str | int], tokenizer: Tokenizer, config: ModelConfig, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    config = replace(config, **variant)  # type: ignore[arg-type]
    save_bundle(tmp_path, Transformer(config).state_dict(), config, tokenizer, "Variant")
    model = load(tmp_path, "cpu")
    assert isinstance(model, EncoderDecoder)
    assert model.model.config == config
    told = {name: getattr(model.info, name) for name in ("positions", "norm", "bias")}
    assert told == {name: getattr(config, name) for name in told}
    assert any(".self.b_" in name for name in model.parameters(["encoder.*"])) == config.bias
    able = model.info.capabilities
    trace = model.trace("The cat sat.", target="猫", select="*", summarise="*")
    assert all(value.value.isfinite().all() for name, value in trace.tensors.items())
    *_, last = model.decode("The cat sat.").steps
    assert last.written
    assert len(list(sweep(model, Request("The cat", target="猫")).batches)) > 0
    assert model.parameters(["encoder.*"])
    for capability, inside in (("lens", "lens"), ("contributions", "logit")):
        if capability in able:
            model.trace("The cat", target="猫", select=f"inside.{inside}.*")
        else:
            with pytest.raises(InputError) as caught:
                model.trace("The cat", target="猫", select=f"inside.{inside}.*")
            assert caught.value.kind == CAPABILITIES[capability][1]
    assert model.trace("The cat", target="猫", select="inside.relevance.*").tensors
    assert ("long" in able) == config.fusible
    if "long" in able:
        for place, one in model.long(trace.request, torch.float32).attentions.items():
            last_head, n, m = one.shape[0] - 1, *one.shape[1:]
            found = one.head(last_head).weights(slice(0, n), slice(0, m))
            expected = trace[f"{place}.weights"].value[last_head]
            torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_what_is_added_in_each_layer_is_no_part_of_a_logit(
    tokenizer: Tokenizer, config: ModelConfig, tmp_path: Path
) -> None:
    config = replace(config, positions="sinusoidal-each-layer")
    save_bundle(tmp_path, Transformer(config).state_dict(), config, tokenizer, "Each layer")
    able = load(tmp_path, "cpu").info.capabilities
    assert {"lens", "relevance"} <= able
    assert {"worksheet", "positions"} <= able
    assert "contributions" not in able


def test_the_table_says_what_scores_are(
    tokenizer: Tokenizer, config: ModelConfig, tmp_path: Path
) -> None:
    config = replace(config, positions="relative", scoring="dot")
    save_bundle(tmp_path, Transformer(config).state_dict(), config, tokenizer, "Relative")
    told = {(one.stack, one.kind): one.scoring for one in load(tmp_path, "cpu").info.attentions}
    placed = "dot & relative"
    assert told == {
        ("encoder", "self"): placed,
        ("decoder", "self"): placed,
        ("decoder", "cross"): "dot",
    }
