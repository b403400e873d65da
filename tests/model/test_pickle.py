"""A model's results are plain data: pickled and sent to another process, they compare equal."""

import pickle
from dataclasses import fields, replace
from typing import Any

import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.trace.interventions import Cell, Intervention
from model.trace.tensor_tap import NamedTensor

REQUEST = Request(
    "The cat sat.",
    target="猫坐。",
    select=("*", "inside.*"),
    summarise=("*",),
    pad_to=20,
    interventions=(
        Intervention("encoder.0.self", "set", 1, Cell(0, 1, 0.5)),
        Intervention("decoder.0.cross", "freeze", 0, Request("A dog.", target="狗")),
    ),
)


@pytest.fixture(scope="module")
def trace(tiny: EncoderDecoder) -> Trace:
    return tiny.trace(REQUEST)


def sent(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_a_trace_arrives_as_it_was(trace: Trace) -> None:
    arrived = sent(trace)
    assert arrived == trace
    assert repr(arrived) == repr(trace)
    assert any(bool(tensor.value.isnan().any()) for tensor in trace.tensors.values())


def test_traces_that_differ_are_not_equal(trace: Trace) -> None:
    name = "encoder.0.self.weights"
    tensor, summary = trace[name], trace.summaries["encoder.0.self"]
    touched = tensor.value.clone()
    touched[0, 0, 0] += 1e-6
    others = [
        replace(trace, tensors={**trace.tensors, name: replace(tensor, value=touched)}),
        replace(trace, tensors={**trace.tensors, name: replace(tensor, over={})}),
        replace(trace, summaries={"encoder.0.self": replace(summary, patterns=["mixed"])}),
        replace(trace, direction=None),
    ]
    for other in others:
        assert sent(other) == other != trace


def test_numbers_are_equal_as_numbers_are() -> None:
    axes: tuple[tuple[str, ...], dict[str, str]] = (("query",), {"query": "text"})
    odd = torch.tensor([float("nan"), float("inf"), 0.0])
    assert NamedTensor(*axes, odd) == NamedTensor(*axes, odd.clone())
    assert NamedTensor(*axes, odd) != NamedTensor(*axes, odd.nan_to_num())
    assert NamedTensor(*axes, odd) != NamedTensor(*axes, odd.double())
    assert NamedTensor(*axes, odd) != NamedTensor(*axes, odd[:1])


def test_a_decoding_but_for_its_steps_arrives_as_it_was(tiny: EncoderDecoder) -> None:
    decoding = tiny.decode("The cat sat.")
    for field in fields(decoding):
        if field.name != "steps":
            value = getattr(decoding, field.name)
            assert sent(value) == value
    *_, last = decoding.steps
    arrived = sent(last)
    assert (arrived.written, arrived.branches) == (last.written, last.branches)
    assert torch.equal(arrived.logprobs, last.logprobs)
