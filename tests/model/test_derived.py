"""Scores and weights from q and k, against those that were recorded in the same run."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model import load
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import load_bundle
from model.explain.score_terms import Derived, derive
from model.trace.interventions import Intervention
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer

SELECT = ("*.q", "*.k", "*.scores", "*.mask", "*.weights")
VARIANTS: list[dict[str, Any]] = [
    {},
    {"scoring": "dot", "positions": "rotary"},
    {"positions": "relative", "encoder_mask": "window-3", "decoder_mask": "causal & window-4"},
    {"positions": "none", "heads": 1},
]


def made(bundle: Path, **changes: Any) -> EncoderDecoder:
    """Return a model with random weights, none of them zero."""
    loaded = load_bundle(bundle)
    torch.manual_seed(4)
    sizes = {"d_model": 32, "heads": 4, "d_ff": 16, "encoder_layers": 2, "decoder_layers": 2}
    model = Transformer(ModelConfig(len(loaded.tokenizer), **{**sizes, **changes})).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.15)
    return EncoderDecoder(replace(loaded, model=model), "made")


def near(found: Tensor, expected: Tensor, size: float = 1.0) -> None:
    """Check that two tensors agree to 1e-6 times `size`."""
    if found.shape != expected.shape or not found.allclose(expected, atol=1e-6 * size, rtol=1e-6):
        # Ten times slower, but with a useful message.
        torch.testing.assert_close(found, expected, atol=1e-6 * size, rtol=1e-6)


def derived(trace: Trace, model: EncoderDecoder, place: str) -> Derived:
    over = trace[f"{place}.k"].over["key"]
    real = torch.tensor([token.id != model.tokenizer.pad for token in trace.texts[over]])
    made = trace.request.interventions
    return derive(model.model, place, trace.tensors, real, made)


def logsumexp(trace: Trace, place: str) -> Tensor:
    mask = trace[f"{place}.mask"].value
    return trace[f"{place}.scores"].value.masked_fill(~mask, -torch.inf).logsumexp(dim=-1)


def check(trace: Trace, model: EncoderDecoder) -> None:
    for place in model.info.places:
        found = derived(trace, model, place)
        scores, weights = (trace[f"{place}.{name}"] for name in ("scores", "weights"))
        assert (found.dims, found.over, found.shape) == (weights.dims, weights.over, weights.shape)
        assert torch.equal(found.mask(), trace[f"{place}.mask"].value)
        known = replace(found, logsumexp=logsumexp(trace, place))
        _, rows, keys = found.shape
        largest = max(1.0, scores.value.abs().max().item())
        for head in range(found.shape[0]):
            for some in (slice(None), slice(rows // 3, rows // 3 + 2), slice(rows - 1, rows)):
                for of in (slice(None), slice(keys // 2, keys), slice(1, keys, 2)):
                    expected = scores.value[head, some, of]
                    near(found.scores(head, some, of), expected, largest)
                    expected = weights.value[head, some, of]
                    near(found.weights(head, some, of), expected)
                    near(known.weights(head, some, of), expected, largest)


def test_equal_to_what_was_recorded_in_the_shipped_model() -> None:
    """The shipped model's supervised heads have very sharp rows."""
    shipped = load("en-zh")
    assert isinstance(shipped, EncoderDecoder)
    texts = (
        "Hi.",
        "The cat sat on the mat because it was tired.",
        "他昨天没有去学校，因为他病了。",
    )
    for trace in shipped.run([Request(text, select=SELECT) for text in texts]):
        check(trace, shipped)


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_equal_to_what_was_recorded_at_many_sizes(bundle: Path, changes: dict[str, Any]) -> None:
    model = made(bundle, **changes)
    lengths = (1, 2, 8, 17, 61)
    requests = [Request("猫" * n, target="狗" * (62 - n), select=SELECT) for n in lengths]
    for request in requests[::2]:
        check(model.trace(request), model)
    for trace in model.run(requests):  # side by side, each padded to the longest
        check(trace, model)


def test_padding_is_masked(bundle: Path) -> None:
    model = made(bundle)
    trace = model.trace("The cat sat.", target="猫坐", select=SELECT, pad_to=20)
    check(trace, model)
    assert not derived(trace, model, "encoder.0.self").weights(0)[:, -1].any()


def test_a_fully_masked_row_of_weights_is_zeros(bundle: Path) -> None:
    """The window contains only padding."""
    model = made(bundle, encoder_mask="window-2")
    trace = model.trace("猫", target="狗", select=SELECT, pad_to=9)
    check(trace, model)
    found = derived(trace, model, "encoder.0.self")
    assert torch.equal(found.weights(0, slice(8, 9)), torch.zeros(1, 9))


# The intervention, and the attentions whose weights no longer follow from q and k.
CHANGES = [
    (Intervention("encoder.0.self", "zero", 1), "encoder.0.self"),
    (Intervention("encoder.1.self", "uniform"), "encoder.1.self"),
    (Intervention("decoder.0.cross", "cut", 0, (0, 1)), "decoder.0.cross"),
    (Intervention("decoder.1.self", "temperature", None, 2.0), "decoder.1.self"),
    (Intervention("encoder.0.self", "freeze", 0, Request("A dog.", target="狗")), "encoder.0.self"),
    (Intervention("source", "mask", None, 1), "encoder.0.self encoder.1.self decoder.0.cross "
     "decoder.1.cross"),
    (Intervention("source.position", "drop"), ""),
    (Intervention("encoder.0.self.residual", "drop"), ""),
]  # fmt: skip


@pytest.mark.parametrize(("change", "without"), CHANGES, ids=lambda case: str(case)[:70])
def test_derived_weights_are_right_or_refused_under_interventions(
    bundle: Path, change: Intervention, without: str
) -> None:
    model = made(bundle)
    trace = model.trace("The cat sat.", target="猫坐在", select=SELECT, interventions=[change])
    for place in model.info.places:
        if place in without.split():
            with pytest.raises(ValueError, match=f"{place}.weights do not follow from q and k"):
                derived(trace, model, place)
            continue
        found = derived(trace, model, place)
        weights = trace[f"{place}.weights"].value
        for head in range(len(weights)):
            near(found.weights(head), weights[head])
