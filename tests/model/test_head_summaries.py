"""Summaries of heads against hand-made matrices and a plain loop over rows."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.errors import InputError
from model.explain.patterns import PATTERNS, Axes, patterns, tally
from model.text.tokens import Token


def tokens(*texts: str) -> list[Token]:
    return [Token(text, 0, 0, 0, special=text.startswith("<")) for text in texts]


SENTENCE = tokens("<2zh>", "the", " cat", " saw", " The", " dog", ".", "<eos>")
SIZE = len(SENTENCE)
CAUSAL = torch.ones(SIZE, SIZE, dtype=torch.bool).tril()


def at(columns: list[int], keys: int = SIZE, sharp: float = 0.9) -> Tensor:
    """Return rows (1, N, M) with `sharp` of their weight on one key, the rest spread over all."""
    weights = torch.full((len(columns), keys), (1 - sharp) / keys)
    weights[range(len(columns)), columns] += sharp
    return weights[None]


def label(weights: Tensor, axes: Axes, mask: Tensor | None = None) -> str:
    [pattern] = patterns(tally(weights, axes, mask))
    return pattern


@pytest.mark.parametrize(
    ("columns", "pattern"),
    [
        ([max(i - 1, 0) for i in range(SIZE)], "previous-token"),
        ([min(i + 1, SIZE - 1) for i in range(SIZE)], "next-token"),
        (list(range(SIZE)), "itself"),
        ([0, 4, 0, 0, 1, 0, 0, 0], "same-word"),
        ([0] * SIZE, "first-token"),
        ([SIZE - 1] * SIZE, "last-token"),
        ([0, 7, 0, 7, 0, 7, 0, 7], "special"),
        ([3, 6, 5, 1, 2, 0, 4, 2], "mixed"),
    ],
)
def test_a_head_made_by_hand_has_its_name(columns: list[int], pattern: str) -> None:
    assert label(at(columns), Axes(SENTENCE, SENTENCE)) == pattern


def test_a_head_that_looks_everywhere_is_broad() -> None:
    even = torch.full((1, SIZE, SIZE), 1 / SIZE)
    found = tally(even, Axes(SENTENCE, SENTENCE))
    assert patterns(found) == ["broad"]
    assert found.means["spread"].item() == pytest.approx(1)
    assert found.means["entropy"].item() == pytest.approx(math.log(SIZE))


WRITTEN = tokens("猫", "看见", "了", "<eos>")
READ = tokens("<2zh>", "the", " cat", " saw", "<eos>")
CROSS = Axes(WRITTEN, READ, cross=True)


@pytest.mark.parametrize(
    ("columns", "pattern", "alignment"),
    [
        ([2, 3, 1, 4], "alignment", 0.92),  # three words, a key each, 0.9 + 0.1 / 5
        ([3, 2, 1, 0], "alignment", 0.92),  # the order does not matter
        ([2, 2, 2, 2], "mixed", 0.92 / 3),  # one key for all
        ([0, 4, 0, 4], "special", 0.0),  # keys that are no words
    ],
)
def test_an_alignment_tells_words_apart(columns: list[int], pattern: str, alignment: float) -> None:
    weights = at(columns, keys=5)
    assert tally(weights, CROSS).means["alignment"].item() == pytest.approx(alignment)
    assert label(weights, CROSS) == pattern


def test_cross_attention_has_no_neighbours_and_self_attention_no_alignment() -> None:
    cross = tally(at([2, 3, 1, 4], keys=5), CROSS).means
    alone = tally(at(list(range(SIZE))), Axes(SENTENCE, SENTENCE)).means
    assert set(alone) - set(cross) == {"distance", "previous", "itself", "next"}
    assert set(cross) - set(alone) == {"alignment"}


def test_words_that_are_copied_are_the_same_word() -> None:
    axes = Axes(tokens("在", "2026", "Tom", "<eos>"), tokens("in", " 2026", " tom", "<eos>"), True)
    found = tally(at([0, 1, 2, 3], keys=4), axes)
    assert found.counts["same"].tolist() == [2]
    assert found.means["same"].item() == pytest.approx(0.925)


@pytest.mark.parametrize(("share", "pattern"), [(0.501, "first-token"), (0.499, "mixed")])
def test_half_of_the_weight_gives_a_head_its_name(share: float, pattern: str) -> None:
    words = tokens(*"abcdefgh")
    weights = torch.full((1, SIZE, SIZE), (1 - share) / (SIZE - 1))
    weights[..., 0] = share
    assert label(weights, Axes(words, words)) == pattern


def rows_of(weights: Tensor, mask: Tensor) -> list[int]:
    return [
        i for i in range(len(weights)) if int(mask[i].sum()) >= 2 and float(weights[i].sum()) > 0
    ]


Measure = Callable[[Tensor, int], float | None]


def open_at(step: int, mask: Tensor) -> Measure:
    def measure(row: Tensor, i: int) -> float | None:
        j = i + step
        return float(row[j]) if 0 <= j < len(row) and mask[i, j] else None

    return measure


def same_word(mask: Tensor) -> Measure:
    words = [token.text.strip().lower() for token in SENTENCE]

    def measure(row: Tensor, i: int) -> float | None:
        others = [
            j
            for j in range(SIZE)
            if j != i and words[j] == words[i] and mask[i, j] and not SENTENCE[i].special
        ]
        return sum(float(row[j]) for j in others) if others else None

    return measure


@pytest.mark.parametrize("mask", [torch.ones_like(CAUSAL), CAUSAL])
def test_measures_agree_with_a_loop_over_rows(mask: Tensor) -> None:
    torch.manual_seed(3)
    weights = torch.randn(2, SIZE, SIZE).masked_fill(~mask, -torch.inf).softmax(-1)
    loops: dict[str, Measure] = {
        "entropy": lambda row, _: -sum(float(w) * math.log(w) for w in row if w > 0),
        "first": lambda row, _: float(row[0]),
        "last": lambda row, _: float(row[-1]),
        "special": lambda row, _: float(row[0] + row[-1]),
        "distance": lambda row, i: sum(float(w) * abs(i - j) for j, w in enumerate(row)),
        "previous": open_at(-1, mask),
        "itself": open_at(0, mask),
        "next": open_at(1, mask),
        "same": same_word(mask),
    }
    loops["spread"] = lambda row, i: loops["entropy"](row, i) / math.log(int(mask[i].sum()))  # type: ignore[operator]
    found = tally(weights, Axes(SENTENCE, SENTENCE), mask)
    assert set(found.means) == set(loops)
    for head in range(2):
        for name, loop in loops.items():
            values = [loop(weights[head, i], i) for i in rows_of(weights[head], mask)]
            counted = [value for value in values if value is not None]
            assert int(found.counts[name][head]) == len(counted), name
            mean = sum(counted) / len(counted) if counted else math.nan
            assert found.means[name][head].item() == pytest.approx(mean, abs=1e-6, nan_ok=True)


def test_rows_without_a_choice_do_not_count() -> None:
    found = tally(at([0] * SIZE).tril(), Axes(SENTENCE, SENTENCE), CAUSAL)
    assert found.counts["entropy"].item() == SIZE - 1  # the first row has one key only


def test_a_head_without_attention_has_no_measures_and_no_pattern() -> None:
    weights = torch.cat([torch.zeros(1, SIZE, SIZE), at(list(range(SIZE)))])
    found = tally(weights, Axes(SENTENCE, SENTENCE))
    assert patterns(found) == ["none", "itself"]
    assert found.means["entropy"].isnan().tolist() == [True, False]
    assert patterns(tally(torch.zeros(1, 4, 5), CROSS)) == ["none"]


def test_two_rows_are_the_least_that_has_a_pattern() -> None:
    short = tokens("<bos>", "猫")
    weights = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    assert label(weights, Axes(short, short), torch.tensor([[True, False], [True, True]])) == "none"


def test_tallies_add_up_as_sentences_do() -> None:
    torch.manual_seed(4)
    axes = Axes(SENTENCE, SENTENCE)
    one, two = (torch.randn(3, SIZE, SIZE).softmax(-1) for _ in range(2))
    together = (tally(one, axes) + tally(two, axes)).means
    for name, mean in together.items():
        apart = (tally(one, axes).means[name] + tally(two, axes).means[name]) / 2
        torch.testing.assert_close(mean, apart)


def test_leading_axes_are_free() -> None:
    torch.manual_seed(5)
    axes = Axes(SENTENCE, SENTENCE)
    weights = torch.randn(4, 3, SIZE, SIZE).softmax(-1)
    for name, mean in tally(weights, axes).means.items():
        torch.testing.assert_close(mean[2], tally(weights[2], axes).means[name])


def test_a_trace_says_what_its_heads_do(tiny: EncoderDecoder) -> None:
    trace = tiny.trace("The cat sat.", select=(), summarise=["encoder.*.self", "decoder.0.cross"])
    assert not trace.tensors
    assert list(trace.summaries) == ["encoder.0.self", "encoder.1.self", "decoder.0.cross"]
    for summary in trace.summaries.values():
        assert len(summary.patterns) == 4
        assert set(summary.patterns) <= set(PATTERNS)


def test_padding_is_left_out(tiny: EncoderDecoder) -> None:
    asked = {"target": "猫坐着。", "select": (), "summarise": "*"}
    plain, padded = (tiny.trace("The cat sat.", pad_to=pad, **asked) for pad in (None, 24))  # type: ignore[arg-type]
    for place, summary in plain.summaries.items():
        assert padded.summaries[place].patterns == summary.patterns
        for name, measure in summary.measures.items():
            same = padded.summaries[place].measures[name]
            torch.testing.assert_close(same, measure, atol=1e-5, rtol=0, equal_nan=True)


def test_what_is_no_attention_is_refused_by_name(tiny: EncoderDecoder) -> None:
    with pytest.raises(InputError) as caught:
        tiny.trace("hello", summarise=["encoder.*.self", "encoder.0.ffn"])
    assert (caught.value.kind, caught.value.field) == ("unknown-place", "summarise[1]")
