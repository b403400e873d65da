"""The terms of a score, compared with forward calculations in NumPy and with other runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Decode, Patch, Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import CHECKPOINTS, load_bundle
from model.errors import InputError
from model.explain.residual_stream import Origin
from model.trace.interventions import Cell, Intervention
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer
from tests.model.numpy_reference import NumpyTransformer
from tests.model.test_inside import shaken

Array = NDArray[np.float64]
SENTENCE = Request("The cat sat.", target="猫坐在这")
CELLS = ["encoder.0.self.1.3.2", "encoder.1.self.0.0.4", "decoder.0.self.2.3.1"]
CELLS += ["decoder.1.self.3.2.3", "decoder.0.cross.1.2.4", "decoder.1.cross.3.3.0"]
CLOSE = 1e-5  # of the largest score
POSITIONS = ["sinusoidal", "learned", "sinusoidal-on-qk", "rotary", "relative", "none"]


def made(bundle: Path, norm: str = "post", positions: str = "sinusoidal") -> EncoderDecoder:
    torch.manual_seed(1)
    loaded = load_bundle(bundle)
    config = replace(loaded.model.config, norm=norm, positions=positions)
    model = shaken(Transformer(config).eval())
    return EncoderDecoder(replace(loaded, model=model), "made")


@pytest.fixture(scope="module", params=["post", "pre"])
def model(bundle: Path, request: pytest.FixtureRequest) -> EncoderDecoder:
    return made(bundle, request.param)


def names(cells: Sequence[str]) -> list[str]:
    return [f"inside.score.{cell}.*" for cell in cells]


def array(trace: Trace, name: str) -> Array:
    found: Array = trace[name].value.double().numpy()
    return found


def scored(trace: Trace, cell: str) -> tuple[float, float]:
    """Return a cell's recorded score, and the largest one of its attention."""
    place, *at = cell.rsplit(".", 3)
    head, query, key = map(int, at)
    scores = array(trace, f"{place}.scores")
    return float(scores[head, query, key]), float(np.abs(scores).max())


def assert_sums(trace: Trace, cell: str) -> None:
    parts, split = array(trace, f"inside.score.{cell}.parts"), trace.scores[cell]
    score, most = scored(trace, cell)
    assert parts.shape == (len(split.queries), len(split.keys))
    assert parts.sum() + split.offset == pytest.approx(score, abs=CLOSE * most)
    assert split.score == pytest.approx(score, abs=CLOSE * most)
    for part, axis in (("query", 1), ("key", 0)):
        found = array(trace, f"inside.score.{cell}.{part}")
        np.testing.assert_allclose(found, parts.sum(axis=axis), atol=CLOSE * most)


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_parts_sum_to_the_score(bundle: Path, norm: str, positions: str) -> None:
    trace = made(bundle, norm, positions).trace(SENTENCE, select=["*", *names(CELLS)])
    for cell in CELLS:
        assert_sums(trace, cell)


class Frozen:
    """The stream of a row in NumPy, forwards, with every σ as it was recorded."""

    def __init__(self, trace: Trace, parameters: Mapping[str, Array], pre: bool) -> None:
        self.trace, self.parameters, self.pre = trace, parameters, pre

    def normed(self, x: Array, read: Array, place: str, *, beta: bool) -> Array:
        centred = (x - x.mean()) / np.sqrt(read.var() + 1e-5) * self.parameters[f"{place}.gain"]
        shifted: Array = centred + beta * self.parameters[f"{place}.bias"]
        return shifted

    def projected(self, cell: str, letter: str, without: Origin | None = None) -> Array:
        """Return q or k of a cell, as if one part of the sum were zero."""
        place, head, *ends = cell.rsplit(".", 3)
        row = int(ends[letter == "k"])
        stack, layer, kind = place.split(".")
        if kind == "cross" and letter == "k":
            stack, reader = "encoder", "end"
        else:
            reader = f"{stack}.{layer}.{kind}"
        x = self.stream("source" if stack == "encoder" else "target", stack, reader, row, without)
        if reader == "end" and self.pre:
            read = array(self.trace, "encoder.1.ffn.residual")[row]
            x = self.normed(x, read, "encoder", beta=Origin("encoder", "bias") != without)
        elif self.pre:
            read = self.read_by(reader)[row]
            x = self.normed(x, read, place, beta=Origin(place, "bias") != without)
        columns = slice(int(head) * 8, int(head) * 8 + 8)
        b = self.parameters[f"{place}.b_{letter}"] * (Origin(place, f"b_{letter}") != without)
        found: Array = (x @ self.parameters[f"{place}.W_{letter}"] + b)[columns]
        return found

    def order(self, stack: str) -> list[str]:
        kinds = ("self", "ffn") if stack == "encoder" else ("self", "cross", "ffn")
        return [f"{stack}.{layer}.{kind}" for layer in (0, 1) for kind in kinds]

    def read_by(self, reader: str) -> Array:
        stack = reader.split(".")[0]
        places = self.order(stack)
        before = places[: places.index(reader)]
        text = "source" if stack == "encoder" else "target"
        return array(self.trace, f"{before[-1]}.residual" if before else f"{text}.input")

    def stream(self, text: str, stack: str, reader: str, row: int, without: Origin | None) -> Array:
        x: Array = np.zeros(32)
        for part in ("embedding", "position"):
            x = x + array(self.trace, f"{text}.{part}")[row] * (Origin(text, part) != without)
        for place in self.order(stack):
            if place == reader:
                break
            x = x + self.output(place, row, without)
            if not self.pre:
                read = array(self.trace, f"{place}.residual")[row]
                x = self.normed(x, read, place, beta=Origin(place, "bias") != without)
        return x

    def output(self, place: str, row: int, without: Origin | None) -> Array:
        if place.endswith("ffn"):
            hidden = array(self.trace, f"{place}.hidden")[row] @ self.parameters[f"{place}.W_2"]
            bias = self.parameters[f"{place}.b_2"] * (Origin(place, "b_2") != without)
            added: Array = hidden * (Origin(place, "output") != without) + bias
            return added
        mix = array(self.trace, f"{place}.mix")[:, row].copy()
        if without and (without.at, without.part) == (place, "mix"):
            mix[without.head] = 0
        bias = self.parameters[f"{place}.b_o"] * (Origin(place, "b_o") != without)
        found: Array = mix.reshape(-1) @ self.parameters[f"{place}.W_o"] + bias
        return found


@pytest.mark.parametrize("cell", CELLS)
def test_a_part_is_what_the_score_loses_without_it(model: EncoderDecoder, cell: str) -> None:
    """Leave each part out of the sum, with the norms held fixed, on either side and on both."""
    trace = model.trace(SENTENCE, select=["*", *names([cell])])
    given = {n: t.value.double().numpy() for n, t in model.parameters(["*"]).items()}
    frozen = Frozen(trace, given, model.model.config.norm == "pre")
    split, parts = trace.scores[cell], array(trace, f"inside.score.{cell}.parts")
    q, k = (frozen.projected(cell, letter) for letter in "qk")
    score, most = scored(trace, cell)
    assert q @ k / np.sqrt(8) == pytest.approx(score, abs=CLOSE * most)
    assert len(set(split.queries)) == len(split.queries)
    left = np.array([q - frozen.projected(cell, "q", one) for one in split.queries])
    right = np.array([k - frozen.projected(cell, "k", one) for one in split.keys])
    np.testing.assert_allclose(parts, left @ right.T / np.sqrt(8), atol=CLOSE * most)
    assert (np.abs(parts).sum(axis=1) > 0).all()


def test_the_shipped_model_agrees_with_the_papers_in_float64() -> None:
    """Compare with the score of an independent model, not with that of the trace."""
    folder = CHECKPOINTS / "en-zh"
    trace = EncoderDecoder(load_bundle(folder), "en-zh").trace(
        "The cat sat on the mat.",
        select=names(
            chosen := ["encoder.2.self.3.4.1", "decoder.2.self.5.3.2", "decoder.2.cross.0.2.3"]
        ),
    )
    source, target = ([token.id for token in tokens] for tokens in trace.texts.values())
    run = NumpyTransformer(folder).run(source, target)
    for cell in chosen:
        place, *at = cell.rsplit(".", 3)
        scores = run[f"{place}.scores"]
        expected = scores[tuple(map(int, at))]
        found = array(trace, f"inside.score.{cell}.parts").sum()
        assert found == pytest.approx(expected, abs=CLOSE * np.abs(scores).max())


CHANGES = [
    Intervention("decoder.0.self", "zero", 1),
    Intervention("encoder.0.self", "uniform"),
    Intervention("decoder.0.cross", "set", None, Cell(2, 1, 0.9, renormalise=True)),
    Intervention("source", "mask", value=1),
    Intervention("target.position", "drop"),
    Intervention("decoder.0.self.residual", "drop"),
    Intervention("encoder.1.ffn.residual", "drop"),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: f"{one.at} {one.do}")
def test_the_parts_sum_to_the_score_under_interventions(
    model: EncoderDecoder, change: Intervention
) -> None:
    cells = [cell for cell in CELLS if not cell.startswith(change.at)]  # it changes its own scores
    trace = model.trace(SENTENCE, select=["*.scores", *names(cells)], interventions=[change])
    for cell in cells:
        assert_sums(trace, cell)


def test_what_a_patch_puts_in_is_a_term_of_its_own(model: EncoderDecoder) -> None:
    patch = Patch(Request("A dog ran", target="狗跑了在"), ((2, 3),))
    change = Intervention("decoder.0.self.output", "patch", value=patch)
    cell = "decoder.1.self.3.3.1"
    trace = model.trace(SENTENCE, select=["*.scores", *names([cell])], interventions=[change])
    assert_sums(trace, cell)
    plain = model.trace(SENTENCE, select=["*.scores", *names([cell])])
    own = Origin("decoder.1.self", "patch")
    assert own in trace.scores[cell].queries
    assert own not in plain.scores[cell].queries


TEXTS = ["A cat", "The cat sat.", "她不知道", "A dog ran after the cat, and it didn't stop."]
TARGETS = ["猫", "猫坐在这", "我不知道她是谁，它没有停下来。"]


@st.composite
def asked(draw: st.DrawFn) -> Request:
    """Draw a request for a cell that every text has, or for none."""
    place = draw(st.sampled_from([cell.rsplit(".", 3)[0] for cell in CELLS]))
    cell = f"{place}.{draw(st.integers(0, 3))}.{draw(st.integers(0, 1))}.{draw(st.integers(0, 1))}"
    select = (f"{place}.scores", *(names([cell]) if draw(st.booleans()) else ()))
    source, target = draw(st.sampled_from(TEXTS)), draw(st.sampled_from(TARGETS))
    return Request(source, target=target, select=select, pad_to=draw(st.sampled_from([None, 40])))


@settings(max_examples=10, deadline=None, derandomize=True, phases=(Phase.generate,))
@given(requests=st.lists(asked(), min_size=2, max_size=6))
def test_company_and_padding_change_nothing(model: EncoderDecoder, requests: list[Request]) -> None:
    for request, together in zip(requests, model.run(requests), strict=True):
        alone = model.trace(replace(request, pad_to=None))
        assert together.scores.keys() == alone.scores.keys()
        for cell, split in alone.scores.items():
            found, (_, most) = together.scores[cell], scored(alone, cell)
            assert (found.queries, found.keys) == (split.queries, split.keys)
            for name in (f"inside.score.{cell}.{part}" for part in ("parts", "query", "key")):
                expected = array(alone, name)
                np.testing.assert_allclose(array(together, name), expected, atol=1e-4 * most)


def test_it_is_only_there_when_it_is_named(model: EncoderDecoder) -> None:
    trace = model.trace(SENTENCE, select=["*", "inside.*"])
    assert not trace.scores
    assert not [name for name in trace if "score." in name]
    one = model.trace(SENTENCE, select="inside.score.decoder.1.cross.0.1.2.query")
    assert list(one) == ["inside.score.decoder.1.cross.0.1.2.query"]
    assert one["inside.score.decoder.1.cross.0.1.2.query"].dims == ("query_term",)


BAD = {
    "inside.score.decoder.1.cross.4.1.2.*": "head of decoder.1.cross must be from 0 to 3",
    "inside.score.encoder.1.self.0.99.0.*": "query of encoder.1.self must be from 0 to",
    "inside.score.decoder.1.self.0.0.77.*": "key of decoder.1.self must be from 0 to 6",
    "inside.score.decoder.7.self.0.0.0.*": "names no tensor",
    "inside.score.decoder.1.self.0.0.0.sum": "names no tensor",
    "inside.score.*": "names no tensor",
}


@pytest.mark.parametrize("pattern", BAD)
def test_a_cell_that_does_not_exist_is_named(model: EncoderDecoder, pattern: str) -> None:
    with pytest.raises(InputError, match=BAD[pattern]) as caught:
        model.trace(SENTENCE, select=["*.mix", pattern])
    assert caught.value.field == "select[1]"


def test_there_is_a_limit_of_cells(model: EncoderDecoder) -> None:
    cells = [f"encoder.0.self.0.{row}.{column}" for row in range(3) for column in range(6)]
    model.trace(SENTENCE, select=names(cells[:16]))
    with pytest.raises(InputError, match=r"select names 17 cells .* at most 16"):
        model.trace(SENTENCE, select=names(cells[:17]))


def test_a_row_that_was_not_written_has_no_numbers(model: EncoderDecoder) -> None:
    cell = "decoder.0.cross.0.9.1"
    trace = model.trace("The cat sat.", decode=Decode(max_tokens=2), select=names([cell]))
    assert np.isnan(trace.scores[cell].score)
    assert np.isnan(array(trace, f"inside.score.{cell}.parts")).all()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"positions": "learned-each-layer"}, "positions are added in every layer"),
        ({"positions": "relative-product"}, "not a multiple of q"),
        ({"scoring": "additive"}, "not a multiple of q"),
    ],
)
def test_what_is_not_a_sum_is_not_offered(bundle: Path, options: dict[str, str], why: str) -> None:
    loaded = load_bundle(bundle)
    config: ModelConfig = replace(loaded.model.config, **options)  # type: ignore[arg-type]
    other = EncoderDecoder(replace(loaded, model=Transformer(config).eval()), "other")
    with pytest.raises(InputError, match=why):
        other.trace(SENTENCE, select=names(CELLS[:1]))
