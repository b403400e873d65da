"""A sweep gives the same result for every head as a separate run without it."""

import re
from dataclasses import astuple, replace
from itertools import combinations

import pytest
import torch

from model.adapters import sweep_changes
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Decode, Patch, Request
from model.adapters.requests.trace import Trace
from model.adapters.sweep import TOKENS, Ablation, sweep
from model.adapters.sweep_changes import count
from model.decode.decoding_steps import Hypothesis
from model.errors import InputError
from model.trace.interventions import Intervention

LOGITS = ("decoder.logits",)
MASKED = (Intervention("source", "mask", value=1), Intervention("encoder.0.self", "zero", 1))
REQUESTS = [
    Request("The cat sat.", target="猫坐在垫子上。"),
    Request("The cat sat.", target="猫坐在垫子上。", interventions=MASKED),
    Request("The dog", decode=Decode("beam", max_tokens=6)),
    Request("a" * 20, decode=Decode("sample", max_tokens=3, seed=2)),
]


def ablations(model: EncoderDecoder, request: Request, effect: str = "zero") -> list[Ablation]:
    return [one for batch in sweep(model, request, effect).batches for one in batch]


@pytest.mark.parametrize("effect", ["zero", "uniform"])
@pytest.mark.parametrize("request_", REQUESTS, ids=range(4))
def test_each_head_equals_a_separate_run(
    tiny: EncoderDecoder, request_: Request, effect: str
) -> None:
    base = tiny.trace(request_, select=LOGITS)
    heads = ablations(tiny, request_, effect)
    assert {(one.at, one.head) for one in heads} == {
        (place, head) for place in tiny.info.places for head in range(4)
    }
    assert len(heads) == 24
    for one in heads:
        made = (*request_.interventions, Intervention(one.at, effect, one.head))
        alone = forced(tiny, request_, base, made)
        delta = [b - a for a, b in zip(base.output.logprobs, alone.output.logprobs, strict=True)]
        assert one.delta == pytest.approx(delta, abs=1e-5)
        before, after = (t["decoder.logits"].value.double() for t in (base, alone))
        divergence = torch.nn.functional.kl_div(
            after.log_softmax(-1), before.log_softmax(-1), reduction="none", log_target=True
        ).sum(-1)
        assert one.divergence == pytest.approx(divergence.tolist(), abs=1e-5)
    assert max(max(map(abs, one.delta)) for one in heads) > 1e-3


def forced(
    model: EncoderDecoder, request: Request, base: Trace, made: tuple[Intervention, ...]
) -> Trace:
    """Run the same output with other interventions, alone."""
    ids = tuple(token.id for token in base.output.tokens)
    if request.target is None:
        request = replace(request, decode=Decode(prefix=ids, max_tokens=len(ids)))
    trace = model.trace(request, select=LOGITS, interventions=made)
    assert tuple(token.id for token in trace.output.tokens) == ids
    return trace


def test_a_sweep_of_one_row_equals_that_row(tiny: EncoderDecoder) -> None:
    every = ablations(tiny, REQUESTS[0])
    chosen = sweep(tiny, REQUESTS[0], row=3)
    assert chosen.rows == (3,)
    alone = [one for batch in chosen.batches for one in batch]
    for one, all_ in zip(alone, every, strict=True):
        assert one.delta == pytest.approx(all_.delta[3:4], abs=1e-6)
        assert one.divergence == pytest.approx(all_.divergence[3:4], abs=1e-6)
    last = len(chosen.base.output.tokens) - 1
    with pytest.raises(InputError, match=f"row must be from 0 to {last}"):
        sweep(tiny, REQUESTS[0], row=last + 1)


@pytest.mark.parametrize("request_", REQUESTS[:3], ids=range(3))
def test_each_sublayer_equals_a_separate_run(tiny: EncoderDecoder, request_: Request) -> None:
    base = tiny.trace(request_, select=LOGITS)
    swept = sweep(tiny, request_, "zero", over="sublayers")
    found = [one for batch in swept.batches for one in batch]
    networks = [f"{stack}.{n}.ffn" for stack in ("encoder", "decoder") for n in (0, 1)]
    assert {one.at for one in found} == {f"{at}.output" for at in (*tiny.info.places, *networks)}
    assert len(found) == swept.changes == 10
    for one in found:
        assert (one.head, one.also, one.interaction) == (None, None, None)
        made = (*request_.interventions, Intervention(one.at, "zero"))
        alone = forced(tiny, request_, base, made)
        delta = [b - a for a, b in zip(base.output.logprobs, alone.output.logprobs, strict=True)]
        assert one.delta == pytest.approx(delta, abs=1e-5)


@pytest.mark.parametrize(("effect", "request_"), [("zero", 1), ("uniform", 2)])
def test_a_pair_is_both_heads_at_once(tiny: EncoderDecoder, effect: str, request_: int) -> None:
    request = REQUESTS[request_]
    base = tiny.trace(request, select=LOGITS)
    among = ["decoder.1.cross", "encoder.0.*"]
    swept = sweep(tiny, request, effect, over="pairs", among=among)
    found = [one for batch in swept.batches for one in batch]
    places = ["encoder.0.self", "decoder.1.cross"]
    heads = [(at, head) for at in places for head in range(4)]
    pairs = [(*one, *other) for one, other in combinations(heads, 2)]
    assert [(one.at, one.head) for one in found[:8]] == heads
    assert [(one.at, one.head, *astuple(one.also)) for one in found[8:] if one.also] == pairs
    assert swept.changes == len(found) == count(tiny.info, effect, "pairs", 9, among) == 36

    def delta(*made: Intervention) -> list[float]:
        alone = forced(tiny, request, base, (*request.interventions, *made))
        return [b - a for a, b in zip(base.output.logprobs, alone.output.logprobs, strict=True)]

    for one in found[8:]:
        assert one.also
        assert one.interaction
        made = [Intervention(head.at, effect, head.head) for head in (one, one.also)]
        both, first, second = delta(*made), delta(made[0]), delta(made[1])
        assert one.delta == pytest.approx(both, abs=1e-5)
        more = [b - a - c for b, a, c in zip(both, first, second, strict=True)]
        assert one.interaction == pytest.approx(more, abs=1e-5)
    assert max(max(map(abs, one.interaction or ())) for one in found[8:]) > 1e-3


def test_too_many_pairs_are_refused_before_anything_runs(
    tiny: EncoderDecoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_changes, "MAX_PAIRS", 100)
    monkeypatch.setattr(tiny, "run", None)
    with pytest.raises(InputError, match="24 heads make 276 pairs; at most 100") as caught:
        sweep(tiny, REQUESTS[0], over="pairs")
    assert (caught.value.kind, caught.value.field) == ("too-long", "among")
    assert caught.value.excess
    assert caught.value.excess.limit == 100


@pytest.mark.parametrize(
    ("effect", "over", "among", "field"),
    [
        ("uniform", "sublayers", None, "over"),
        ("zero", "positions", None, "over"),
        ("zero", "heads", ["encoder.*"], "among"),
        ("zero", "pairs", ["encoder.9.self"], "among[0]"),
        (Patch(REQUESTS[0]), "pairs", None, "over"),
        ("zero", "layers", None, "over"),
    ],
    ids=range(6),
)
def test_parts_that_cannot_be_swept_are_named(
    tiny: EncoderDecoder, effect: str | Patch, over: str, among: list[str] | None, field: str
) -> None:
    with pytest.raises(InputError, match=re.escape(field)) as caught:
        sweep(tiny, REQUESTS[0], effect, over=over, among=among)
    assert caught.value.field == field


def test_a_batch_grows_with_what_a_run_can_read(tiny: EncoderDecoder) -> None:
    long = Request("cat " * 30, target="猫" * 60)
    swept = sweep(tiny, long)
    first = next(swept.batches)
    read = len(swept.base.texts["source"]) + len(swept.base.texts["target"])
    assert len(first) == max(1, TOKENS // read) < swept.changes


@pytest.mark.parametrize(
    ("request_", "effect", "field"),
    [
        (Request(""), "zero", "source"),
        (REQUESTS[0], "drop", "effect"),
        (REQUESTS[0], "mean", "effect"),  # without means in the bundle
        (replace(REQUESTS[0], interventions=(Intervention("x", "zero"),)), "zero", "in"),
    ],
    ids=str,
)
def test_what_cannot_be_swept_is_named(
    tiny: EncoderDecoder, request_: Request, effect: str, field: str
) -> None:
    with pytest.raises(InputError) as caught:
        sweep(tiny, request_, effect)
    assert caught.value.field.startswith(field)
    assert field in str(caught.value)


def test_rows_that_encode_alike_are_read_once(
    tiny: EncoderDecoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results equal those of separate runs."""
    request = Request("The cat sat.", target="猫坐", select=LOGITS)
    made = [
        (),
        (Intervention("decoder.0.self", "zero", 1),),
        (Intervention("decoder.1.cross", "zero", 1),),
        (Intervention("encoder.0.self", "zero", 1),),
        (Intervention("encoder.0.self", "zero", 1), Intervention("decoder.0.self", "zero", 2)),
    ]
    requests = [replace(request, interventions=one) for one in made]
    requests.append(replace(request, select=("encoder.0.self.weights", *LOGITS)))
    requests.append(replace(request, source="The dog sat."))
    alone = [tiny.run([one])[0] for one in requests]
    sizes = []
    encode = tiny.model.encode

    def counted(source: torch.Tensor, *rest: object) -> torch.Tensor:
        sizes.append(len(source))
        found: torch.Tensor = encode(source, *rest)  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(tiny.model, "encode", counted)
    together = tiny.run(requests)
    assert sizes == [4]  # plain, without the encoder's head, recorded, another sentence
    for one, other in zip(alone, together, strict=True):
        assert one.tensors.keys() == other.tensors.keys()
        for name, tensor in one.tensors.items():
            torch.testing.assert_close(tensor.value, other[name].value, atol=1e-5, rtol=1e-5)


def test_a_prefix_that_leaves_nothing_to_write_is_not_searched(
    tiny: EncoderDecoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiny._writer, "_search", None)
    trace = tiny.trace("The cat", decode=Decode("beam", prefix=(300, 301, 302), max_tokens=3))
    assert tuple(token.id for token in trace.output.tokens) == (300, 301, 302)
    assert not trace.output.finished
    again = Hypothesis((300, 301, 302), trace.output.logprobs)
    assert trace.output.score == pytest.approx(again.score(0.6))
