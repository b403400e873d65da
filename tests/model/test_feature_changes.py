"""Zeros, factors, values and added vectors at any tensor: against a second implementation."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Decode, Request, Step, TokenOf
from model.adapters.requests.trace import Trace
from model.bundle.weights import load_bundle
from model.errors import InputError
from model.trace.interventions import FEATURES, Intervention
from tests.model.numpy_reference import NumpyTransformer
from tests.model.shaken import same, shaken_bundle, sums_to_logits

CAT, DOG = Request("The cat sat.", target="猫坐在这"), Request("A dog sat.", target="狗坐在这")
LONG = Request(
    "A dog ran after the cat, and it didn't stop.", target="我不知道她是谁，它没有停下来。"
)
LOGITS = "decoder.logits"
HEADS, WIDTH = 4, 32
ATTENTIONS = ["encoder.0.self", "encoder.1.self", "decoder.0.self", "decoder.1.cross"]
BY_HEAD = [f"{place}.{name}" for place in ATTENTIONS for name in ("q", "k", "v", "mix")]
WHOLE = [
    *(f"{place}.{name}" for place in ATTENTIONS for name in ("output", "residual", "norm")),
    *(f"decoder.1.ffn.{name}" for name in ("output", "residual", "norm")),
    *(f"{text}.{name}" for text in ("source", "target") for name in FEATURES[:3]),
]
HIDDEN = ["encoder.0.ffn.hidden", "decoder.1.ffn.hidden"]
VECTOR = tuple(float(n % 5 - 2) for n in range(WIDTH))


@pytest.fixture(scope="module")
def paper(bundle: Path) -> tuple[EncoderDecoder, NumpyTransformer]:
    return EncoderDecoder(load_bundle(bundle), "tiny"), NumpyTransformer(bundle)


@pytest.fixture(scope="module")
def shaken(bundle: Path) -> EncoderDecoder:
    return EncoderDecoder(shaken_bundle(bundle), "shaken")


def run(model: EncoderDecoder, request: Request, *made: Intervention, **fields: Any) -> Trace:
    return model.trace(request, interventions=made, **({"select": ("*", LOGITS)} | fields))


def ids(trace: Trace) -> tuple[list[int], list[int]]:
    source, target = ([token.id for token in text] for text in trace.texts.values())
    return source, target


def by_hand(at: str, to: Callable[[Any], Any], **chosen: Sequence[int]) -> Callable[..., Any]:
    """Return a change of the reference, cell by cell."""

    def change(name: str, value: Any) -> Any:
        if name != at:
            return value
        value, given = value.copy(), value
        for cell in np.ndindex(*value.shape):
            of = dict(zip(("units", "rows", "heads"), reversed(cell), strict=False))
            if all(of[axis] in few for axis, few in chosen.items()):
                value[cell] = to(given)[cell]
        return value

    return change


Deed = tuple[str, Any, Callable[[Any], Any]]
DEEDS: list[Deed] = [
    ("zero", None, lambda value: value * 0),
    ("scale", 2.5, lambda value: value * 2.5),
    ("fill", -0.75, lambda value: np.full_like(value, -0.75)),
    ("add", VECTOR, lambda value: value + np.array(VECTOR)),
]
CHOSEN: list[dict[str, tuple[int, ...]]] = [{}, {"rows": (0, 3)}]
# A tensor has all choices, each with another of the deeds that fit it.
FITTING = ((BY_HEAD, {"heads": (1, 3), "rows": (2,)}, 3), (HIDDEN, {"units": (5,)}, 3))
CASES = [
    (at, chosen, DEEDS[(n + turn) % deeds])
    for places, few, deeds in (*FITTING, (WHOLE, {"rows": (1,), "units": (0, 31)}, 4))
    for n, at in enumerate(places)
    for turn, chosen in enumerate((*CHOSEN, few))
]


@pytest.mark.parametrize(("at", "chosen", "deed"), CASES, ids=lambda case: str(case)[:40])
def test_it_is_the_paper_with_those_numbers_changed(
    paper: tuple[EncoderDecoder, NumpyTransformer],
    at: str,
    chosen: dict[str, tuple[int, ...]],
    deed: Deed,
) -> None:
    """Change the numbers in a second implementation that shares no code."""
    (model, numpy), (do, value, to) = paper, deed
    found = run(model, CAT, Intervention(at, do, None, value, **chosen))
    expected = numpy.run(*ids(found), change=by_hand(at, to, **chosen))
    for name, known in expected.items():
        np.testing.assert_allclose(found[name].value, known, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("do", ["zero", "uniform", "temperature", "cut"])
@pytest.mark.parametrize("place", ATTENTIONS)
def test_several_heads_or_edges_are_the_changes_of_each(
    shaken: EncoderDecoder, place: str, do: str
) -> None:
    edges = ((1, 0), (3, 1))
    value = {"temperature": 0.3, "cut": edges}.get(do)
    for chosen in (*combinations(range(HEADS), 2), (0, 1, 2, 3)):
        together = run(shaken, CAT, Intervention(place, do, None, value, heads=chosen))
        each = [
            Intervention(place, do, head, one)
            for head in chosen
            for one in (edges if do == "cut" else (value,))
        ]
        one_by_one = run(shaken, CAT, *each)
        for name in together:
            assert torch.equal(together[name].value, one_by_one[name].value), name


def test_a_head_can_be_off_in_one_row(paper: tuple[EncoderDecoder, NumpyTransformer]) -> None:
    model, numpy = paper
    place = "decoder.0.self"
    found = run(model, CAT, Intervention(place, "zero", 2, rows=(1, 3)))
    change = by_hand(f"{place}.weights", lambda value: value * 0, heads=(2,), rows=(1, 3))
    for name, known in numpy.run(*ids(found), change=change).items():
        np.testing.assert_allclose(found[name].value, known, atol=2e-5, err_msg=name)


def test_a_step_is_the_difference_of_two_rows(shaken: EncoderDecoder) -> None:
    at = "encoder.0.ffn.norm"
    step = Step(TokenOf(DOG, 2), TokenOf(LONG, 4), 1.5)
    there = run(shaken, DOG)[at].value[2] - run(shaken, LONG)[at].value[4]
    vector = tuple((1.5 * there).tolist())
    for rows in (None, (1, 2)):
        found, known = (
            run(shaken, CAT, Intervention(at, "add", None, one, rows=rows))
            for one in (step, vector)
        )
        for name in known:
            torch.testing.assert_close(found[name].value, known[name].value, msg=name)
    alone = Step(TokenOf(DOG, 2))
    plain, moved = (
        run(shaken, CAT, *made, select=at)[at].value
        for made in ((), (Intervention(at, "add", None, alone),))
    )
    torch.testing.assert_close(moved - plain, run(shaken, DOG)[at].value[[2]].expand_as(plain))


def test_a_step_to_a_token_that_was_not_written_is_none(shaken: EncoderDecoder) -> None:
    """A translation of its own that ends earlier; it can only be known while it runs."""
    short = Request("A cat", decode=Decode(max_tokens=2))
    step = Step(TokenOf(short, 40), TokenOf(CAT, 1))
    at = "decoder.0.ffn.residual"
    found, plain = (
        run(shaken, CAT, *made) for made in ((Intervention(at, "add", None, step),), ())
    )
    assert torch.equal(found[LOGITS].value, plain[LOGITS].value)


def test_a_step_between_two_sentences_brings_one_to_the_other(shaken: EncoderDecoder) -> None:
    """All that the encoder reads is the input: its difference makes it the other sentence."""
    rows = range(len(shaken.texts_of(CAT)["source"]))
    assert len(shaken.texts_of(DOG)["source"]) == len(rows), "choose other sentences"
    made = [
        Intervention("source.input", "add", None, Step(TokenOf(DOG, n), TokenOf(CAT, n)), rows=(n,))
        for n in rows
    ]
    found = run(shaken, replace(CAT, target=DOG.target), *made)
    torch.testing.assert_close(
        found[LOGITS].value, run(shaken, DOG)[LOGITS].value, atol=1e-4, rtol=0
    )


# Not shrunk: a failure is small, and each attempt takes a run of the model.
OFTEN = settings(max_examples=5, deadline=None, derandomize=True, phases=(Phase.generate,))
SOME = st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True).map(tuple)
ROW = st.builds(TokenOf, st.sampled_from([CAT, DOG, LONG]), st.integers(0, 3))
STEPS = st.builds(Step, ROW, st.none() | ROW, st.floats(-2, 2))
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "scale": st.floats(-3, 3),
    "fill": st.floats(-3, 3),
    "zero": st.none(),
    "add": STEPS | st.just(VECTOR),
}


@st.composite
def changes(draw: st.DrawFn) -> Intervention:
    """Draw a change of some of the numbers of any tensor."""
    do = draw(st.sampled_from([*VALUES]))
    at = draw(st.sampled_from(WHOLE if do == "add" else [*BY_HEAD, *WHOLE, *HIDDEN]))
    chosen: dict[str, Any] = {"rows": draw(st.none() | SOME)}
    if at in BY_HEAD:
        chosen["heads"] = draw(st.none() | SOME)
    else:
        chosen["units"] = draw(st.none() | SOME)
    return Intervention(at, do, None, draw(VALUES[do]), **chosen)


REQUESTS = st.builds(
    Request,
    st.sampled_from([CAT.source, DOG.source, LONG.source, "她不知道"]),
    target=st.sampled_from([None, CAT.target, LONG.target]),
    decode=st.sampled_from([Decode(max_tokens=9), Decode("beam", beam=3, max_tokens=7)]),
    interventions=st.lists(changes(), min_size=1, max_size=3).map(tuple),
    select=st.just(("*", LOGITS)),
)


@OFTEN
@given(REQUESTS, st.lists(REQUESTS, min_size=4, max_size=4), st.integers(0, 4))
def test_it_is_the_same_alone_among_others_and_padded(
    shaken: EncoderDecoder, one: Request, others: list[Request], place: int
) -> None:
    others = [other for other in others if shaken.takes(other)]
    place = min(place, len(others))
    if not shaken.takes(one):
        return
    alone = shaken.trace(one)
    for middle in (one, replace(one, pad_to=48)):
        found = shaken.run([*others[:place], middle, *others[place:]])[place]
        same(found, alone)


def test_contributions_of_a_changed_sum_are_refused(shaken: EncoderDecoder) -> None:
    select = ("inside.logit.*", LOGITS)
    for at in ("decoder.0.self.output", "decoder.1.ffn.residual", "target.input"):
        with pytest.raises(InputError, match=f"a change at {at}"):
            run(shaken, CAT, Intervention(at, "scale", value=0.5), select=select)
    for at in ("decoder.0.cross.mix", "decoder.1.ffn.hidden", "target.embedding"):
        trace = run(shaken, CAT, Intervention(at, "scale", value=0.5), select=select)
        sums_to_logits(trace)
