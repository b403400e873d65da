"""One head's columns of a matrix, selected by a number after its name."""

import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.errors import InputError


def test_a_number_selects_the_columns_of_a_head(tiny: EncoderDecoder) -> None:
    heads = tiny.info.attentions[0].heads
    names = [f"encoder.0.self.W_q.{head}" for head in range(heads)]
    found = tiny.parameters([*names, "encoder.0.self.W_q", "encoder.0.self.b_v.1"])
    assert list(found) == [*names, "encoder.0.self.W_q", "encoder.0.self.b_v.1"]
    whole = torch.cat([found[name].value for name in names], dim=-1)
    assert torch.equal(whole, found["encoder.0.self.W_q"].value)
    [bias] = tiny.parameters(["encoder.0.self.b_v"]).values()
    width = len(bias.value) // heads
    assert torch.equal(found["encoder.0.self.b_v.1"].value, bias.value[width : 2 * width])


def test_patterns_do_not_match_slices(tiny: EncoderDecoder) -> None:
    assert not any(name.endswith(".0") for name in tiny.parameters(["*"]))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("encoder.0.self.W_q.99", "select[1]: encoder.0.self.W_q has heads 0 to"),
        ("encoder.9.self.W_q.0", "select[1] names no tensor"),
        ("encoder.0.self.W_o.0", "select[1] names no tensor"),
        ("encoder.0.self.gain.0", "select[1] names no tensor"),
    ],
)
def test_a_head_that_does_not_exist(tiny: EncoderDecoder, name: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        tiny.parameters(["encoder.0.self.W_k.0", name])
    assert says in error.value.detail
