"""Attention over long texts against the full matrices, computed at once in float64."""

import threading
from dataclasses import dataclass
from functools import cached_property

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from model.long import flash_kernels, long_attention
from model.long.flash_kernels import Bias, Rule, Scored, flash_attention
from model.long.long_attention import LongAttention, Stored, grouped, largest, overview, span
from model.progress import StoppedError, stoppable
from model.transformer.masks import named


@dataclass(frozen=True)
class Case:
    """Random q, k and v with every option of an long_attention."""

    heads: int
    groups: int
    queries: int
    keys: int
    width: int
    values: int
    mask: str
    cap: float | None
    bias: str | None
    sink: bool
    seed: int

    @cached_property
    def tensors(self) -> tuple[Tensor, Tensor, Tensor]:
        made = torch.Generator().manual_seed(self.seed)
        q = torch.randn(self.heads, self.queries, self.width, generator=made)
        k = torch.randn(self.groups, self.keys, self.width, generator=made)
        return q, k, torch.randn(self.groups, self.keys, self.values, generator=made)

    @cached_property
    def allowed(self) -> Tensor:
        at = torch.arange(self.queries), torch.arange(self.keys)
        return named(self.mask)(*at).expand(self.queries, self.keys)

    @cached_property
    def added(self) -> Tensor:
        """Return the bias (H, N, M)."""
        made = torch.Generator().manual_seed(self.seed + 1)
        if self.bias == "any":
            return torch.randn(self.heads, self.queries, self.keys, generator=made)
        offsets = torch.randn(self.heads, self.queries + self.keys, generator=made)
        away = torch.arange(self.keys) - torch.arange(self.queries)[:, None] + self.queries
        return offsets[:, away] if self.bias else torch.zeros_like(away).expand(self.heads, -1, -1)

    @cached_property
    def sinks(self) -> Tensor:
        return torch.linspace(-1, 2, self.heads)

    @cached_property
    def scored(self) -> Scored:
        return Scored(
            Rule(lambda rows, keys: self.allowed[rows, keys], self.queries, self.keys),
            self.width**-0.5,
            self.cap,
            Bias.of(self.added) if self.bias else None,
            self.sinks if self.sink else None,
        )

    @cached_property
    def full(self) -> tuple[Tensor, Tensor]:
        """Return weights (H, N, M) and mix (H, N, d_v), computed at once."""
        shared = self.heads // self.groups
        q, k, v = (one.double() for one in self.tensors)
        scores = q @ k.repeat_interleave(shared, 0).mT / self.width**0.5
        if self.cap:
            scores = torch.tanh(scores / self.cap) * self.cap
        scores = (scores + self.added).masked_fill(~self.allowed, -torch.inf)
        if self.sink:
            column = self.sinks.double()[:, None, None].expand(-1, self.queries, 1)
            weights = torch.cat([scores, column], -1).softmax(-1)[..., :-1]
        else:
            weights = scores.softmax(-1).nan_to_num()
        return weights, weights @ v.repeat_interleave(shared, 0)

    def kept(self, dtype: torch.dtype = torch.float32) -> LongAttention:
        q, k, v = self.tensors
        _, sums = flash_attention(q, k, v, self.scored)
        return LongAttention.keep(q, k, sums, self.scored, {}, dtype)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    groups = draw(st.integers(1, 3))
    queries = draw(st.integers(1, 40))
    self_ = draw(st.booleans())
    keys = queries if self_ else draw(st.integers(1, 40))
    windows = st.integers(1, 12).map(lambda n: f"window-{n}")
    masks = st.one_of(
        st.sampled_from(["padding", "causal"]), windows, windows.map(lambda one: f"causal & {one}")
    )
    return Case(
        groups * draw(st.integers(1, 3)),
        groups,
        queries,
        keys,
        draw(st.integers(1, 20)),
        draw(st.integers(1, 20)),
        draw(masks) if self_ else "padding",
        draw(st.sampled_from([None, None, 1.5])),
        draw(st.sampled_from([None, None, "offsets", "any"])),
        draw(st.booleans()),
        draw(st.integers(0, 1_000)),
    )


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use blocks of a few rows, so that short texts have several."""
    monkeypatch.setattr(flash_kernels, "BLOCK", 7)
    monkeypatch.setattr(flash_kernels, "BAND", 5)
    monkeypatch.setattr(long_attention, "ROWS", 6)


UNHURRIED = settings(deadline=None, max_examples=15)


@UNHURRIED
@given(cases())
def test_mix_and_weights_are_those_of_the_full_matrix(case: Case) -> None:
    weights, expected = case.full
    mix, _ = flash_attention(*case.tensors, case.scored)
    torch.testing.assert_close(mix.double(), expected, atol=2e-6, rtol=1e-5)
    kept = case.kept()
    rows, keys = slice(0, case.queries), slice(0, case.keys)
    for head in range(case.heads):
        found = kept.head(head).weights(rows, keys)
        torch.testing.assert_close(found.double(), weights[head], atol=1e-6, rtol=2e-5)
        assert (found[~case.allowed] == 0).all()


@UNHURRIED
@given(cases(), st.data())
def test_a_window_is_a_part_of_the_full_matrix(case: Case, data: st.DataObject) -> None:
    rows, keys = (_window(data, length) for length in (case.queries, case.keys))
    spans = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    head = data.draw(st.integers(0, case.heads - 1))
    expected = _pooled(case.full[0][head].where(case.allowed, torch.nan)[rows, keys], spans)
    found = largest(case.kept().head(head), rows, keys, spans)
    torch.testing.assert_close(found.double(), expected, atol=1e-6, rtol=2e-5, equal_nan=True)


@UNHURRIED
@given(cases(), st.integers(1, 12))
def test_an_overview_has_the_largest_weight_of_each_cell(case: Case, cells: int) -> None:
    spans = span(case.queries, cells), span(case.keys, cells)
    assert -(-case.queries // spans[0]) <= cells
    expected = torch.stack(
        [_pooled(one.where(case.allowed, torch.nan), spans) for one in case.full[0]]
    )
    found = overview(case.kept(), cells)
    torch.testing.assert_close(found.double(), expected, atol=1e-6, rtol=2e-5, equal_nan=True)


@UNHURRIED
@given(cases(), st.data())
def test_a_group_gets_the_sum_of_its_keys_and_the_mean_of_its_queries(
    case: Case, data: st.DataObject
) -> None:
    edges = [_edges(data, length) for length in (case.queries, case.keys)]
    found = grouped(case.kept().head(0), *edges)
    for row, (a, b) in enumerate(zip(edges[0], edges[0][1:], strict=False)):
        for column, (c, d) in enumerate(zip(edges[1], edges[1][1:], strict=False)):
            one = found[row, column]
            if not case.allowed[a:b, c:d].any():
                assert one.isnan()
                continue
            expected = case.full[0][0, a:b, c:d].sum(-1).mean().float()
            torch.testing.assert_close(one, expected, atol=2e-6, rtol=2e-5)


@UNHURRIED
@given(cases())
def test_sixteen_bits_are_close(case: Case) -> None:
    found = case.kept(torch.int16).head(0).weights(slice(0, case.queries), slice(0, case.keys))
    torch.testing.assert_close(found.double(), case.full[0][0], atol=1e-7, rtol=2e-3)


def test_sixteen_bits_take_half_the_memory() -> None:
    case = Case(2, 1, 400, 400, 20, 4, "causal", None, None, False, 3)
    assert case.kept(torch.int16).bytes < 0.54 * case.kept().bytes


def test_what_all_keys_share_is_not_rounded() -> None:
    case = Case(2, 1, 50, 50, 16, 4, "causal", None, None, False, 3)
    q, k, v = case.tensors
    shifted = k + 200 * torch.randn(16, generator=torch.Generator().manual_seed(4))
    _, sums = flash_attention(q, shifted, v, case.scored)
    kept = LongAttention.keep(q, shifted, sums, case.scored, {}, torch.int16)
    found = kept.head(1).weights(slice(0, 50), slice(0, 50))
    torch.testing.assert_close(found.double(), case.full[0][1], atol=1e-6, rtol=2e-3)


def test_a_number_is_stored_to_half_a_step_of_its_channel() -> None:
    x = torch.randn(2, 30, 4, generator=torch.Generator().manual_seed(5))
    x *= torch.tensor([1e-30, 1.0, 1e5, 0.0])
    stored = Stored.of(x, torch.int16)
    for head in range(2):
        off = (stored[head] - x[head]).abs().amax(0)
        assert (off <= x[head].abs().amax(0) / 65_534 * 1.01).all()


def test_a_bias_by_offset_takes_the_memory_of_its_offsets() -> None:
    case = Case(2, 1, 30, 40, 4, 4, "padding", None, "offsets", False, 0)
    bias = Bias.of(case.added)
    assert bias is not None
    assert bias.table.shape == (2, 69)
    part = bias(slice(1, 2), slice(3, 20), slice(10, 33))
    assert torch.equal(part[0], case.added[1, 3:20, 10:33])
    assert Bias.of(torch.zeros(1, 3, 3)) is None


def test_a_rule_knows_its_shape() -> None:
    def of(mask: str) -> Rule:
        return Case(1, 1, 23, 23, 2, 2, mask, None, None, False, 0).scored.rule

    assert (of("padding").open, of("padding").causal) == (True, False)
    assert (of("causal").open, of("causal").causal) == (False, True)
    narrow = of("causal & window-3")
    assert (narrow.open, narrow.causal) == (False, False)
    assert narrow.band(slice(10, 12)) == slice(8, 15)  # those of the block of rows 10 to 14
    assert of("causal").band(slice(10, 12)) == slice(0, 12)


def test_a_window_costs_no_more_than_its_band(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sliding window over a long text is not evaluated over all keys."""
    case = Case(1, 1, 400, 400, 4, 4, "causal & window-3", None, None, False, 0)
    rule_ = case.scored.rule
    bands = [rule_.band(slice(start, start + 7)) for start in range(0, 393, 7)]
    assert max(one.stop - one.start for one in bands) <= 7 + 2 * 5 + 3


def _window(data: st.DataObject, length: int) -> slice:
    first = data.draw(st.integers(0, length - 1))
    return slice(first, data.draw(st.integers(first + 1, length)))


def _edges(data: st.DataObject, length: int) -> list[int]:
    inside = data.draw(st.sets(st.integers(0, length), min_size=2, max_size=6))
    return sorted(inside)


def _pooled(weights: Tensor, spans: tuple[int, int]) -> Tensor:
    """Compute cells by brute force; NaN if every weight is NaN."""
    tall, wide = spans
    rows = []
    for a in range(0, weights.shape[0], tall):
        cells = [weights[a : a + tall, c : c + wide] for c in range(0, weights.shape[1], wide)]
        rows.append(torch.stack([one.nan_to_num(-1).max() for one in cells]))
    found = torch.stack(rows)
    return found.masked_fill(found < 0, torch.nan)


def test_heads_on_several_threads_are_the_same_and_can_be_stopped() -> None:
    case = Case(6, 2, 40, 40, 8, 4, "causal", None, None, False, 7)
    before = torch.get_num_threads()
    alone = overview(case.kept(), 9)
    torch.set_num_threads(3)
    try:
        torch.testing.assert_close(overview(case.kept(), 9), alone, atol=0, rtol=0, equal_nan=True)
        assert torch.get_num_threads() == 3
        threads = set[str]()

        def stops() -> bool:
            threads.add(threading.current_thread().name)
            return True

        with stoppable(stops), pytest.raises(StoppedError):
            overview(case.kept(), 9)
        assert all(name.startswith("head") for name in threads)
        started = threading.Thread(target=lambda: threads.add(str(torch.get_num_threads())))
        started.start()
        started.join()
        assert "3" in threads  # a new thread has as many as before
    finally:
        torch.set_num_threads(before)
