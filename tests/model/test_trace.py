"""The tap: every documented name fires, and recording changes nothing."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Request
from model.errors import InputError
from model.trace.interventions import Intervention
from model.trace.tensor_names import select
from model.trace.tensor_tap import NULL, SOURCE, TARGET, BatchTap, Recorder

TEXTS = ["The cat sat.", "我不知道她是谁。", "A", "I don't know who she is, and it didn't stop."]


def names() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the documented names, for two layers per stack."""
    for stream in ("source", "target"):
        for name in ("embedding", "position", "input"):
            yield f"{stream}.{name}", ("query", "feature")
    for stack, blocks in (("encoder", ["self"]), ("decoder", ["self", "cross"])):
        for layer in range(2):
            for block in blocks:
                place = f"{stack}.{layer}.{block}"
                yield f"{place}.q", ("head", "query", "channel")
                yield f"{place}.k", ("head", "key", "channel")
                yield f"{place}.v", ("head", "key", "channel")
                yield f"{place}.scores", ("head", "query", "key")
                yield f"{place}.mask", ("query", "key")
                yield f"{place}.weights", ("head", "query", "key")
                yield f"{place}.mix", ("head", "query", "channel")
                for name in ("output", "residual", "norm"):
                    yield f"{place}.{name}", ("query", "feature")
            yield f"{stack}.{layer}.ffn.hidden", ("query", "hidden")
            for name in ("output", "residual", "norm"):
                yield f"{stack}.{layer}.ffn.{name}", ("query", "feature")
    yield "decoder.logits", ("query", "vocab")
    yield "decoder.probabilities", ("query", "rank")
    yield "decoder.candidates", ("query", "rank")


def test_the_list_of_names(tiny: EncoderDecoder) -> None:
    assert tiny.names == dict(names())


def test_every_name_fires_with_its_dims(tiny: EncoderDecoder) -> None:
    trace = tiny.trace("The cat sat.", select=("*", "decoder.logits"))
    assert {name: tensor.dims for name, tensor in trace.tensors.items()} == dict(names())
    sizes = {
        "head": 4,
        "channel": 8,
        "feature": 32,
        "hidden": 64,
        "vocab": tiny.info.vocabulary,
        "rank": 10,
        SOURCE: len(trace.texts["source"]),
        TARGET: len(trace.texts["target"]),
    }
    for name, tensor in trace.tensors.items():
        shape = tuple(sizes[tensor.over.get(dim, dim)] for dim in tensor.dims)
        assert tuple(tensor.value.shape) == shape, name
    assert trace.tensors["encoder.0.self.weights"].over == {"query": SOURCE, "key": SOURCE}
    assert trace.tensors["decoder.1.self.k"].over == {"key": TARGET}
    assert trace.tensors["decoder.1.cross.scores"].over == {"query": TARGET, "key": SOURCE}


def test_a_recording_run_equals_a_silent_one_bit_for_bit(tiny: EncoderDecoder) -> None:
    source, target = torch.randint(0, 300, (2, 3, 11), generator=torch.Generator().manual_seed(0))
    rows = [Recorder(list(tiny.names), {SOURCE: 11, TARGET: 11}) for _ in range(3)]
    with torch.inference_mode():
        silent = tiny.model(source, target, tap=NULL)
        recorded = tiny.model(source, target, tap=BatchTap(rows))
    assert torch.equal(silent, recorded)
    assert torch.equal(recorded[1], rows[1].tensors["decoder.logits"].value)
    assert list(rows[0].tensors) == list(tiny.names)


def test_a_batch_answers_as_each_alone(tiny: EncoderDecoder) -> None:
    requests = [Request(text, select=("*", "decoder.logits")) for text in TEXTS]
    for request, together in zip(requests, tiny.run(requests), strict=True):
        alone = tiny.trace(request)
        assert together.output.text == alone.output.text
        for name, tensor in alone.tensors.items():
            if name != "decoder.candidates":  # ranks of equal probabilities may swap
                other = together.tensors[name].value
                torch.testing.assert_close(other, tensor.value, atol=1e-5, rtol=1e-5)


def test_interventions_and_selections_stay_in_their_row(tiny: EncoderDecoder) -> None:
    plain = Request("The cat sat.", target="猫", select=("*.weights",))
    changed = Request(
        "The cat sat.",
        target="猫",
        select=("decoder.1.*",),
        interventions=(Intervention("encoder.0.self", "zero", 1),),
    )
    before = tiny.trace(plain)
    first, second, third = tiny.run([plain, changed, plain])
    for row in (first, third):
        assert set(row.tensors) == set(before.tensors)
        for name, tensor in before.tensors.items():
            torch.testing.assert_close(row.tensors[name].value, tensor.value, atol=1e-6, rtol=0)
    assert set(second.tensors) == {name for name in tiny.names if name.startswith("decoder.1.")}


def test_zero_equals_the_forward_without_the_head(tiny: EncoderDecoder) -> None:
    """Compare with a copy of the model in which the head's rows of W_o are zero."""
    place, head = "encoder.1.self", 2
    request = Request("The cat sat.", target="猫坐", select=("*",))
    cut = Request(**{**vars(request), "interventions": (Intervention(place, "zero", head),)})
    ours = tiny.trace(cut)
    layer: Any = tiny.model.encoder[1]
    weight = layer.self_attention.W_o.weight
    kept = weight.detach().clone()
    try:
        with torch.no_grad():
            weight[:, head * 8 : (head + 1) * 8] = 0
        reference = tiny.trace(request)
    finally:
        with torch.no_grad():
            weight.copy_(kept)
    for name in ("decoder.probabilities", "encoder.1.ffn.norm"):
        expected = reference.tensors[name].value
        torch.testing.assert_close(ours.tensors[name].value, expected, atol=1e-5, rtol=0)
    assert not ours.tensors[f"{place}.weights"].value[head].any()
    assert ours.tensors[f"{place}.weights"].value[head - 1].any()


def test_uniform_spreads_over_the_keys_allowed(tiny: EncoderDecoder) -> None:
    request = Request(
        "The cat",
        target="猫坐在",
        pad_to=9,
        interventions=(Intervention("decoder.0.self", "uniform"),),
    )
    trace = tiny.trace(request)
    weights = trace.tensors["decoder.0.self.weights"].value
    expected = torch.ones(9, 9).tril()
    expected[:, 4:] = 0  # <bos> and three characters are real
    expected /= expected.sum(-1, keepdim=True)
    torch.testing.assert_close(weights, expected.expand(4, 9, 9))


def test_without_positions_an_encoder_notices_no_order(tiny: EncoderDecoder) -> None:
    dropped = (Intervention("source.position", "drop"),)
    texts = ("一只狗追着猫跑", "猫追着只跑一狗")  # each character is a token
    order = [0, *(1 + texts[0].index(character) for character in texts[1]), 8]
    requests = [
        Request(text, target="cat", select=("encoder.1.self.*", "*.position"), interventions=made)
        for made in (dropped, ())
        for text in texts
    ]
    first, second, placed, moved = tiny.run(requests)
    tokens = [token.id for token in first.texts["source"]]
    assert [tokens[i] for i in order] == [token.id for token in second.texts["source"]]
    name = "encoder.1.self.weights"
    before, after = (trace.tensors[name].value for trace in (first, second))
    torch.testing.assert_close(before[:, order][:, :, order], after, atol=1e-5, rtol=0)
    with_order, shuffled = (trace.tensors[name].value for trace in (placed, moved))
    assert (with_order[:, order][:, :, order] - shuffled).abs().max() > 1e-3
    assert not first.tensors["source.position"].value.any()
    assert first.tensors["target.position"].value.any()


def test_padding_shows_and_changes_nothing(tiny: EncoderDecoder) -> None:
    plain = Request("The cat sat.", target="猫坐", select=("*",))
    short = tiny.trace(plain)
    long = tiny.trace(plain, pad_to=20)
    assert [token.text for token in long.texts["source"][-2:]] == ["<pad>", "<pad>"]
    assert len(long.texts["source"]) == len(long.texts["target"]) == 20
    mask = long.tensors["encoder.0.self.mask"].value
    assert torch.equal(mask[0], torch.arange(20) < len(short.texts["source"]))
    assert (
        not long.tensors["encoder.0.self.weights"].value[:, :, len(short.texts["source"]) :].any()
    )
    for name, tensor in short.tensors.items():
        if name != "decoder.candidates":
            cut = tuple(slice(size) for size in tensor.value.shape)
            torch.testing.assert_close(
                long.tensors[name].value[cut], tensor.value, atol=1e-5, rtol=1e-5
            )


def test_selecting(tiny: EncoderDecoder) -> None:
    assert select([], tiny.names) == ()
    assert set(tiny.names) - set(select(["*"], tiny.names)) == {"decoder.logits"}
    assert "decoder.logits" not in select(["decoder.*"], tiny.names)
    assert select(["decoder.logits"], tiny.names) == ("decoder.logits",)
    chosen = select(["decoder.0.cross.weights", "encoder.*.self.weights"], tiny.names)
    assert chosen == (
        "encoder.0.self.weights",
        "encoder.1.self.weights",
        "decoder.0.cross.weights",
    )
    with pytest.raises(InputError) as caught:
        select(["*.weights", "nothing"], tiny.names)
    assert caught.value.field == "select[1]"
    assert caught.value.kind == "unknown-tensor"
