"""A request's result does not depend on other requests in its batch, or on padding.

Decoding and trace agree as well: the steps of a decoding and the trace of
its result are the same.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.request import Decode, Patch, Request, Step, TokenOf
from model.bundle.measurements import Measured
from model.bundle.weights import Bundle
from model.errors import InputError
from model.trace.interventions import EFFECTS, Cell, Intervention
from tests.model.shaken import CLOSE, same, shaken_bundle

HEADS = 4
SELECT = ("*", "decoder.logits", "inside.relevance.*")
SOURCES = [
    "A cat",
    "The cat sat.",
    "她不知道",
    "I don't know who she is.",
    "A dog ran after the cat, and it didn't stop.",
]
TARGETS = [None, "猫", "猫坐在这", "我不知道她是谁，它没有停下来。"]
DECODES = [
    Decode(max_tokens=9),
    Decode("beam", beam=3, max_tokens=7),
    Decode("sample", seed=3, max_tokens=9),
]
PLACES = [
    f"{stack}.{layer}.{kind}"
    for stack, kind in (("encoder", "self"), ("decoder", "self"), ("decoder", "cross"))
    for layer in (0, 1)
]
DROPPED = [
    "source.position",
    "target.position",
    "encoder.1.ffn.residual",
    "decoder.0.self.residual",
]
PATCHED = [
    *(f"{place}.{name}" for place in PLACES for name in ("q", "k", "v", "scores", "weights")),
    *(f"{place}.{name}" for place in PLACES for name in ("mask", "mix", "output", "norm")),
    "source.input",
    "target.embedding",
    "encoder.0.ffn.hidden",
    "decoder.1.ffn.residual",
]
MOVED = [
    *(f"{place}.{name}" for place in PLACES for name in ("output", "residual", "norm")),
    "source.embedding",
    "target.input",
    "decoder.0.ffn.output",
]
# Not shrunk: a failure is small, and each attempt takes a run of the model.
OFTEN = settings(max_examples=5, deadline=None, derandomize=True, phases=(Phase.generate,))


@pytest.fixture(scope="module")
def shaken(bundle: Path) -> Bundle:
    return shaken_bundle(bundle)


def fresh(bundle: Bundle) -> EncoderDecoder:
    """Return a new adapter: with cached decodings, there would be no test."""
    generator = torch.Generator().manual_seed(2)
    names = [f"{place}.mix" for place in PLACES]
    means = {name: torch.randn(HEADS, 8, generator=generator) for name in names}
    return EncoderDecoder(bundle, "shaken", Measured(means))


@st.composite
def changes(draw: st.DrawFn, do: str) -> Intervention:
    """Draw an intervention of this kind, with an index that most sentences have."""
    index = st.integers(0, 6)
    if do == "mask":
        return Intervention("source", do, value=draw(index))
    if do == "shuffle":
        return Intervention("source.position", do, value=draw(st.integers(0, 99)))
    if do == "drop":
        return Intervention(draw(st.sampled_from(DROPPED)), do)
    other = st.builds(
        Request,
        st.sampled_from(SOURCES),
        target=st.sampled_from(TARGETS),
        decode=st.sampled_from(DECODES),
        pad_to=st.sampled_from([None, 40]),
    )
    if do == "patch":
        rows = st.lists(
            st.tuples(index, index), min_size=1, max_size=4, unique_by=lambda row: row[1]
        )
        at, patch = draw(st.sampled_from(PATCHED)), draw(st.builds(Patch, other, rows.map(tuple)))
        heads = at.startswith(tuple(PLACES)) and at.split(".")[-1] not in ("mask", "output", "norm")
        return Intervention(at, do, draw(st.integers(0, HEADS - 1)) if heads else None, patch)
    some = st.none() | st.lists(index, min_size=1, max_size=3, unique=True).map(tuple)
    if do in ("scale", "fill", "add"):
        number = st.floats(-3, 3)
        row = st.builds(TokenOf, other, index)
        added = st.builds(Step, row, st.none() | row, number)
        at, value = draw(st.sampled_from(MOVED)), draw(added if do == "add" else number)
        return Intervention(at, do, None, value, rows=draw(some), units=draw(some))
    values: dict[str, st.SearchStrategy[Any]] = {
        "set": st.builds(Cell, index, index, st.floats(0, 1), st.booleans()),
        "cut": st.tuples(index, index) | st.tuples(st.tuples(index, index), st.just((0, 1))),
        "temperature": st.floats(0.1, 10),
        "freeze": other,
    }
    head = draw(st.none() | st.integers(0, HEADS - 1))
    several = draw(st.none() | st.just((0, 2))) if head is None else None
    where = draw(some) if EFFECTS[do].part else None
    made = draw(values.get(do, st.none()))
    return Intervention(draw(st.sampled_from(PLACES)), do, head, made, several, where)


ANY = st.sampled_from([*EFFECTS]).flatmap(changes)


def requests(made: st.SearchStrategy[Any]) -> st.SearchStrategy[Request]:
    return st.builds(
        Request,
        st.sampled_from(SOURCES),
        target=st.sampled_from(TARGETS),
        decode=st.sampled_from(DECODES),
        interventions=made,
        select=st.just(SELECT),
    )


def changed(do: str) -> st.SearchStrategy[Request]:
    """Draw a request with such an intervention, sometimes followed by another one."""
    return requests(st.tuples(changes(do)) | st.tuples(changes(do), ANY))


NEIGHBOURS = st.lists(requests(st.just(()) | st.tuples(ANY)), max_size=2)


@pytest.mark.parametrize("do", EFFECTS)
def test_a_trace_is_equal_alone_batched_and_padded(shaken: Bundle, do: str) -> None:
    seen = 0

    @OFTEN
    @given(changed(do), NEIGHBOURS, NEIGHBOURS, st.integers(40, 64))
    def holds(one: Request, before: list[Request], after: list[Request], length: int) -> None:
        nonlocal seen
        known = fresh(shaken)
        if not known.takes(one):
            return
        seen += 1
        padded = replace(one, pad_to=length)
        before, after = (
            [other for other in side if known.takes(other)] for side in (before, after)
        )
        [alone] = known.run([one])
        assert fresh(shaken).takes(padded)
        for middle in (one, padded):  # alone if no others were drawn
            beside = fresh(shaken).run([*before, middle, *after])
            same(beside[len(before)], alone)

    holds()
    assert seen >= 2


@pytest.mark.parametrize("do", EFFECTS)
def test_the_steps_of_a_decoding_are_those_of_its_trace(shaken: Bundle, do: str) -> None:
    seen = 0

    @OFTEN
    @given(changed(do))
    def holds(one: Request) -> None:
        nonlocal seen
        known, written = fresh(shaken), replace(one, target=None)
        if not known.takes(written):
            return
        seen += 1
        *_, last = known.decode(written).steps
        trace = known.trace(written)
        assert tuple(token.id for token in trace.output.tokens) == last.written[0].ids
        assert trace.output.logprobs == pytest.approx(last.written[0].logprobs, abs=CLOSE)

    holds()
    assert seen >= 2


def test_the_shipped_model_agrees_within_the_documented_tolerance() -> None:
    """Run sentences of very different lengths, some padded; each equals its result alone."""
    known, beside = load("en-zh", "cpu"), load("en-zh", "cpu")
    texts = [*SOURCES, "猫坐在垫子上。", "He told me that he had never seen the sea before. " * 3]
    frozen = Intervention("decoder.0.cross", "freeze", None, Request(texts[-1]))
    asked = [
        Request(text, select=("*", "decoder.logits"), interventions=made)
        for text in texts
        for made in ((), (frozen,))
    ]
    padded = [replace(one, pad_to=80) if at % 3 else one for at, one in enumerate(asked)]
    for request, found in zip(asked, beside.run(padded), strict=True):
        same(found, known.trace(request))


def test_a_frozen_pattern_ends_where_the_sentence_does(shaken: Bundle) -> None:
    """By hand: row i of the longer sentence, cut to the request's own keys."""
    place, head = "encoder.1.self", 2
    long = Request(SOURCES[-1], target="猫")
    made = (Intervention(place, "freeze", head, replace(long, pad_to=60)),)
    short = Request("A cat", target="猫", select=(f"{place}.*",), pad_to=50, interventions=made)
    pattern = fresh(shaken).trace(long, select=f"{place}.weights")[f"{place}.weights"].value[head]
    [trace, _] = fresh(shaken).run([short, long])
    own = sum(token.text != "<pad>" for token in trace.texts["source"])
    assert own < len(pattern)
    weights = trace[f"{place}.weights"].value[head]
    torch.testing.assert_close(weights[:own, :own], pattern[:own, :own], atol=CLOSE, rtol=CLOSE)
    assert not weights[:, own:].any()
    # The head's output is the sum over the own keys, by definition.
    mix = pattern[:own, :own].numpy() @ trace[f"{place}.v"].value[head, :own].numpy()
    torch.testing.assert_close(
        trace[f"{place}.mix"].value[head, :own], torch.from_numpy(mix), atol=CLOSE, rtol=CLOSE
    )
    assert (1 - pattern[:own, :own].sum(-1)).max() > 0.01, "nothing is renormalised"


def test_a_frozen_pattern_has_no_rows_of_padding(shaken: Bundle) -> None:
    """Rows beyond the frozen sentence's end are unchanged, whatever its padding."""
    name = "encoder.0.self.weights"
    short = Request("A cat", target="猫", pad_to=60)
    made = (Intervention("encoder.0.self", "freeze", 1, short),)
    ours, found = fresh(shaken).run(
        [Request(SOURCES[-1], target="猫", select=(name,), interventions=i) for i in ((), made)]
    )
    rows = len(fresh(shaken).rows.source(short))
    torch.testing.assert_close(
        found[name].value[1, rows:], ours[name].value[1, rows:], atol=CLOSE, rtol=CLOSE
    )
    assert not torch.allclose(found[name].value[1, :rows], ours[name].value[1, :rows], atol=0.01)


@pytest.mark.parametrize(
    ("made", "field", "limit"),
    [
        (Intervention("decoder.0.self", "set", 0, Cell(1, 2, 0.9)), "set[1]", "from 0 to 1"),
        (Intervention("encoder.0.self", "set", 0, Cell(9, 0, 0.9)), "set[0]", "from 0 to"),
        (Intervention("decoder.0.cross", "set", 0, Cell(0, 9, 0.9)), "set[1]", "from 0 to"),
        (Intervention("encoder.0.self", "cut", 0, (0, 9)), "cut[1]", "from 0 to"),
        (Intervention("source", "mask", value=9), "mask", "from 0 to"),
    ],
)
def test_padding_and_future_tokens_cannot_be_changed(
    shaken: Bundle, made: Intervention, field: str, limit: str
) -> None:
    """Padding, and tokens that a decoder's row has not read, cannot get a weight."""
    request = Request("A cat", target="猫坐", pad_to=30, interventions=(made,))
    with pytest.raises(InputError, match=limit) as caught:
        fresh(shaken).check(request)
    assert caught.value.field == f"interventions[0].do.{field}"
