"""The table of attentions describes what a run computes."""

from collections.abc import Iterator

import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.trace.attentions import read_whole


def places() -> Iterator[tuple[str, str, int, str, str, str, str]]:
    """Yield place, stack, layer, kind, query, key and mask, for two layers per stack."""
    for layer in range(2):
        yield f"encoder.{layer}.self", "encoder", layer, "self", "source", "source", "padding"
    for layer in range(2):
        yield f"decoder.{layer}.self", "decoder", layer, "self", "target", "target", "causal"
        yield f"decoder.{layer}.cross", "decoder", layer, "cross", "target", "source", "padding"


def test_the_table_is_the_papers(tiny: EncoderDecoder) -> None:
    found = [
        (one.place, one.stack, one.layer, one.kind, one.query, one.key, one.mask)
        for one in tiny.info.attentions
    ]
    assert found == list(places())
    assert {(one.heads, one.kv_heads, one.scoring) for one in tiny.info.attentions} == {
        (4, 4, "scaled-dot")
    }
    assert tiny.info.layers == {"encoder": 2, "decoder": 2}
    assert tiny.info.heads == {"encoder": 4, "decoder": 4}
    assert tiny.info.texts == ("source", "target")
    assert read_whole(tiny.info.attentions) == ("source",)


def test_the_table_is_what_a_run_records(tiny: EncoderDecoder) -> None:
    trace = tiny.trace("The cat sat.", target="猫坐", select=["*.weights", "*.mask"], pad_to=12)
    weights = {name.removesuffix(".weights") for name in trace if name.endswith(".weights")}
    assert weights == set(tiny.info.places)
    for one in tiny.info.attentions:
        tensor, mask = trace[f"{one.place}.weights"], trace[f"{one.place}.mask"].value
        assert tensor.over == one.over
        assert tensor.shape[0] == one.heads
        later = torch.ones_like(mask).triu(1)
        assert (mask & later).any() == (one.mask == "padding")
