"""Interventions: each against its definition, in decoding and in the trace."""

import copy
from typing import Any

import pytest
import torch
from torch import Tensor

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Decode, Request
from model.bundle.weights import CHECKPOINTS, load_bundle
from model.decode.greedy_and_sampling import Reader, sample
from model.errors import InputError
from model.trace.interventions import Cell, Intervention, Scene
from model.trace.tensor_tap import SOURCE, BatchTap, Recorder

SOURCE_TEXT, TARGET_TEXT = "The cat sat.", "猫坐在这"
PLACES = ["encoder.1.self", "decoder.1.self", "decoder.0.cross"]


def seen(tiny: EncoderDecoder, *made: Intervention, **fields: Any) -> dict[str, Tensor]:
    """Return all tensors of a run with these interventions."""
    chosen = {"source": SOURCE_TEXT, "target": TARGET_TEXT, "select": ("*",), **fields}
    trace = tiny.trace(Request(**chosen, interventions=made))
    return {name: tensor.value for name, tensor in trace.tensors.items()}


def softmax(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.double().masked_fill(~mask, -torch.inf).softmax(-1).float()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("head", range(4))
def test_a_head_that_is_off_is_a_model_built_without_it(
    tiny: EncoderDecoder, place: str, head: int
) -> None:
    changed = seen(tiny, Intervention(place, "zero", head), select=("decoder.logits",))
    stack, layer, part = place.split(".")
    without = copy.deepcopy(tiny.model)
    attention = getattr(getattr(without, stack)[int(layer)], f"{part}_attention")
    width = attention.W_o.in_features // tiny.info.heads[stack]
    plain = tiny.trace(Request(SOURCE_TEXT, target=TARGET_TEXT))
    source, target = (torch.tensor([[token.id for token in side]]) for side in plain.texts.values())
    with torch.no_grad():
        attention.W_o.weight[:, head * width : (head + 1) * width] = 0
        logits = without(source, target, source >= 0, target >= 0)[0]
    torch.testing.assert_close(changed["decoder.logits"], logits, atol=1e-5, rtol=0)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("head", [None, 2])
def test_a_cut_edge_gets_no_weight_and_the_rest_its_share(
    tiny: EncoderDecoder, place: str, head: int | None
) -> None:
    before = seen(tiny)
    after = seen(tiny, Intervention(place, "cut", head, (2, 1)))
    mask = before[f"{place}.mask"].expand_as(before[f"{place}.scores"]).clone()
    mask[slice(None) if head is None else head, 2, 1] = False
    expected = softmax(before[f"{place}.scores"], mask)
    torch.testing.assert_close(after[f"{place}.weights"], expected, atol=1e-6, rtol=0)


def test_a_row_with_all_edges_cut_is_zeros(tiny: EncoderDecoder) -> None:
    made = [Intervention("decoder.0.self", "cut", 1, (1, key)) for key in (0, 1)]
    weights = seen(tiny, *made)["decoder.0.self.weights"]
    assert not weights[1, 1].any()
    assert weights[0, 1].sum() == pytest.approx(1)


@pytest.mark.parametrize("place", PLACES)
def test_a_cell_is_set_and_the_others_share_what_is_left(tiny: EncoderDecoder, place: str) -> None:
    before = seen(tiny)[f"{place}.weights"]
    plain = seen(tiny, Intervention(place, "set", 1, Cell(2, 1, 0.75)))[f"{place}.weights"]
    shared = seen(tiny, Intervention(place, "set", 1, Cell(2, 1, 0.75, renormalise=True)))
    expected = before.clone()
    expected[1, 2, 1] = 0.75
    torch.testing.assert_close(plain, expected, atol=1e-6, rtol=0)
    row = shared[f"{place}.weights"][1, 2]
    assert row.sum() == pytest.approx(1, abs=1e-6)
    ratio = row / before[1, 2]
    others = [key for key in range(len(row)) if key != 1 and before[1, 2, key] > 0]
    torch.testing.assert_close(ratio[others], ratio[others[:1]].expand(len(others)))
    torch.testing.assert_close(
        shared[f"{place}.mix"][1, 2], row @ seen(tiny)[f"{place}.v"][1], atol=1e-5, rtol=0
    )


def test_a_certain_cell_that_is_set_to_0_is_one_that_is_cut() -> None:
    """1 minus its weight is 0 in float32."""
    who = EncoderDecoder(load_bundle(CHECKPOINTS / "zoo" / "who"), "who")
    source = "The animal didn't cross the street because it was too tired."
    set_, cut = (
        seen(
            who,
            Intervention("decoder.0.self", do, 0, value),
            source=source,
            target="animal",
            select=("decoder.0.self.weights", "decoder.logits"),
        )
        for do, value in (("set", Cell(1, 1, 0.0, renormalise=True)), ("cut", (1, 1)))
    )
    assert set_["decoder.0.self.weights"][0, 1].tolist() == [1, 0]
    torch.testing.assert_close(set_["decoder.logits"], cut["decoder.logits"], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("row", "sink", "expected"),
    [
        ([0.5, 0.3, 0.2], None, [0.2, 0.48, 0.32]),
        ([0.5, 0.1, 0.1], 0.3, [0.2, 0.16, 0.16]),  # the sink gets 0.48
        ([1.0, 0.0, 0.0], None, [0.2, 0.8 * 0.731059, 0.8 * 0.268941]),  # by the scores
        ([1.0, 0.0, 1e-45], None, [0.2, 0.8 * 0.731059, 0.8 * 0.268941]),
        ([0.0, 0.0, 0.0], None, [0.2, 0.0, 0.0]),  # a head that is off
    ],
)
def test_the_rest_of_a_row_is_scaled(
    row: list[float], sink: float | None, expected: list[float]
) -> None:
    scores = torch.tensor([[[200.0, 1.0, 0.0]]])
    tensors = {"scores": scores, "mask": torch.ones(1, 3, dtype=torch.bool)}
    if sink is not None:
        tensors["sink"] = torch.tensor([[sink]])
    made = Intervention("encoder.0.self", "set", 0, Cell(0, 0, 0.2, renormalise=True))
    found = made("encoder.0.self.weights", torch.tensor([[row]]), Scene(seen=tensors))
    torch.testing.assert_close(found, torch.tensor([[expected]]))
    tensors["mask"] = torch.tensor([[True, False, False]])
    alone = made("encoder.0.self.weights", torch.tensor([[[1.0, 0, 0]]]), Scene(seen=tensors))
    torch.testing.assert_close(alone, torch.tensor([[[0.2, 0.0, 0.0]]]))


@pytest.mark.parametrize("place", PLACES)
def test_temperature_divides_the_scores(tiny: EncoderDecoder, place: str) -> None:
    before = seen(tiny)
    after = seen(tiny, Intervention(place, "temperature", 0, 0.5))
    mask = before[f"{place}.mask"]
    expected = softmax(before[f"{place}.scores"][0] / 0.5, mask)
    torch.testing.assert_close(after[f"{place}.weights"][0], expected, atol=1e-6, rtol=0)
    unchanged = before[f"{place}.weights"][1:]
    torch.testing.assert_close(after[f"{place}.weights"][1:], unchanged, atol=1e-6, rtol=0)


def test_a_masked_source_token_gets_no_attention(tiny: EncoderDecoder) -> None:
    after = seen(tiny, Intervention("source", "mask", value=2))
    for name, value in after.items():
        if name.endswith(".mask"):
            hidden = name.startswith("encoder") or ".cross." in name
            assert value[..., 2].any() != hidden, name
        if name.startswith("encoder") and name.endswith("self.weights"):
            assert not value[..., 2].any()
            torch.testing.assert_close(value.sum(-1), torch.ones(value.shape[:-1]))


@pytest.mark.parametrize("place", ["encoder.0.self", "encoder.1.ffn", "decoder.1.cross"])
def test_a_dropped_residual_leaves_the_sublayer_alone(tiny: EncoderDecoder, place: str) -> None:
    after = seen(tiny, Intervention(f"{place}.residual", "drop"))
    torch.testing.assert_close(after[f"{place}.residual"], after[f"{place}.output"])
    plain = seen(tiny)
    assert not torch.allclose(plain[f"{place}.residual"], plain[f"{place}.output"], atol=1e-3)


def test_shuffled_positions_are_the_same_in_another_order(tiny: EncoderDecoder) -> None:
    before = seen(tiny)["source.position"]
    once, again, other = (
        seen(tiny, Intervention("source.position", "shuffle", value=seed))["source.position"]
        for seed in (1, 1, 2)
    )
    for shuffled in (once, other):
        assert {tuple(row.tolist()) for row in shuffled} == {tuple(r.tolist()) for r in before}
    torch.testing.assert_close(once, again, atol=0, rtol=0)
    assert not torch.equal(once, other)


def test_a_frozen_pattern_is_that_of_the_other_sentence(tiny: EncoderDecoder) -> None:
    other = Request("A dog.", target="狗")
    name = "encoder.0.self.weights"
    pattern = tiny.trace(Request("A dog.", target="狗", select=(name,))).tensors[name].value
    after = seen(tiny, Intervention("encoder.0.self", "freeze", 1, other))[name]
    rows, keys = pattern.shape[1:]
    torch.testing.assert_close(after[1, :rows, :keys], pattern[1], atol=1e-6, rtol=0)
    assert not after[1, :rows, keys:].any()
    own = seen(tiny)[name]
    torch.testing.assert_close(after[1, rows:], own[1, rows:], atol=1e-6, rtol=0)
    torch.testing.assert_close(after[0], own[0], atol=1e-6, rtol=0)


EVERY = [
    Intervention("decoder.0.self", "cut", 1, (3, 1)),
    Intervention("decoder.1.cross", "set", None, Cell(2, 1, 0.9, renormalise=True)),
    Intervention("decoder.0.cross", "temperature", 2, 3.0),
    Intervention("decoder.1.ffn.residual", "drop"),
    Intervention("decoder.1.self", "zero", 0),
    Intervention("source", "mask", value=1),
    Intervention("target", "mask", value=2),
    Intervention("source.position", "shuffle", value=7),
]


@pytest.mark.parametrize("made", [*[(one,) for one in EVERY], tuple(EVERY)], ids=lambda m: m[-1].do)
def test_a_cache_changes_nothing(tiny: EncoderDecoder, made: tuple[Intervention, ...]) -> None:
    """An index refers to the same token with and without a cache."""
    source = tiny.rows.source(Request(SOURCE_TEXT))
    ids, real = tiny.rows.batch([source])
    rows = []
    with torch.inference_mode():
        for cached in (True, False):
            tap = BatchTap([Recorder(own={SOURCE: len(source)}, interventions=made)])
            reader = Reader(tiny.model, tiny.tokenizer, ids, real, tap, cached)
            *_, last = sample(reader, tiny.tokenizer, [8], [None])
            rows.append(last.written[0])
    assert rows[0].ids == rows[1].ids
    assert rows[0].logprobs == pytest.approx(rows[1].logprobs, abs=1e-5)


def test_beams_of_a_batch_have_their_own_interventions(tiny: EncoderDecoder) -> None:
    """Each row equals its result alone, and the score of teacher forcing."""
    kinds: list[tuple[Intervention, ...]] = [(), *[(one,) for one in EVERY], tuple(EVERY), ()]
    texts = [SOURCE_TEXT, "A dog ran after the cat, and it didn't stop."]
    requests = [
        Request(
            texts[index % 2],
            decode=Decode("beam", beam=2 + index % 3, max_tokens=10 - index % 4),
            interventions=made,
        )
        for index, made in enumerate(kinds)
    ]
    found = tiny.run(requests)
    for request, together in zip(requests, found, strict=True):
        *_, last = tiny.write(request).steps
        assert [token.id for token in together.output.tokens] == [*last.written[0].ids]
        assert together.output.logprobs == pytest.approx(last.written[0].logprobs, abs=1e-5)
    assert len({tuple(one.output.logprobs) for one in found}) > 5, "interventions do something"


def test_decoding_and_scoring_apply_the_same_interventions(tiny: EncoderDecoder) -> None:
    made = (
        Intervention("decoder.0.self", "cut", 1, (3, 1)),
        Intervention("source", "mask", value=1),
    )
    request = Request(SOURCE_TEXT, interventions=made)
    *_, last = tiny.decode(request).steps
    found = last.written[0]
    assert tiny.trace(request).output.logprobs == pytest.approx(found.logprobs, abs=1e-5)


def test_an_edge_counts_queries_and_keys_by_their_own_texts(tiny: EncoderDecoder) -> None:
    """Use a target that is longer than the source."""
    there, beyond = (
        Request(SOURCE_TEXT, interventions=(Intervention("decoder.0.cross", "cut", 0, edge),))
        for edge in ((20, 1), (1, 20))
    )
    tiny.check(there)
    with pytest.raises(InputError) as caught:
        tiny.check(beyond)
    assert caught.value.field == "interventions[0].do.cut[1]"


@pytest.mark.parametrize(
    ("made", "field", "words"),
    [
        (Intervention("encoder.0.self", "cut", 0, (99, 0)), "do.cut[0]", "from 0 to"),
        (Intervention("decoder.0.cross", "cut", 0, (0, 99)), "do.cut[1]", "from 0 to"),
        (Intervention("encoder.0.self", "set", 0, Cell(0, 0, 2.0)), "do.set[2]", "from 0 to 1"),
        (Intervention("decoder.0.self", "set", 0, Cell(1, 5, 0.9)), "do.set[1]", "from 0 to 1"),
        (Intervention("encoder.0.self", "temperature", 0, 0.0), "do.temperature", "0.01"),
        (Intervention("source", "mask", value=99), "do.mask", "from 0 to"),
        (Intervention("source", "mask", 1, 0), "head", "left out"),
        (Intervention("source.position", "shuffle", value=-1), "do.shuffle", "from 0"),
        (Intervention("encoder.0.self", "freeze", 0, Request("")), "do.freeze.source", "is empty"),
    ],
)
def test_invalid_interventions_are_named(
    tiny: EncoderDecoder, made: Intervention, field: str, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        tiny.check(Request(SOURCE_TEXT, interventions=(made,)))
    assert caught.value.field == f"interventions[0].{field}"
