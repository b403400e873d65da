"""A model whose heads are far from uniform, and what several tests compare of its traces."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model.adapters.requests.trace import Trace
from model.bundle.weights import Bundle, load_bundle
from model.transformer.stacks import Transformer

CLOSE = 1e-4  # the tolerance in the docs


def shaken_bundle(bundle: Path, norm: str = "post") -> Bundle:
    """Return a bundle of the same shape with large random weights; gains stay around 1."""
    loaded = load_bundle(bundle)
    made = Transformer(replace(loaded.model.config, norm=norm)).eval()
    torch.manual_seed(3)
    for parameter in made.parameters():
        mean = float(parameter.detach().mean().round())
        torch.nn.init.normal_(parameter, mean=mean, std=0.25)
    return replace(loaded, model=made)


def same(found: Trace, alone: Trace) -> None:
    """Compare `found` with `alone`, in the rows and columns of the request's own tokens."""
    assert [one.id for one in found.output.tokens] == [one.id for one in alone.output.tokens]
    assert found.output.logprobs == pytest.approx(alone.output.logprobs, abs=CLOSE)
    assert list(found) == list(alone)
    for name, tensor in alone.tensors.items():
        if name != "decoder.candidates":  # ranks of equal probabilities may swap
            own = tuple(slice(size) for size in tensor.shape)
            # As documented: relative to a tensor's largest number, if that is more than 1.
            within = CLOSE * max(1.0, float(tensor.value.double().abs().nan_to_num(posinf=0).max()))
            torch.testing.assert_close(
                found[name].value[own], tensor.value, atol=within, rtol=0, msg=name
            )


def sums_to_logits(trace: Trace) -> None:
    """Compare the sum of all contributions to the written tokens' logits with the logits."""
    written = [token.id for token in trace.output.tokens]
    logits = trace["decoder.logits"].value[range(len(written)), written]
    terms = [
        value.value.reshape(-1, len(written)).sum(0)
        for name, value in trace.tensors.items()
        if name.startswith("inside.logit.") and not name.endswith("total")
    ]
    torch.testing.assert_close(torch.stack(terms).sum(0), logits, atol=1e-4, rtol=0)
