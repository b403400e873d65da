"""How much each source token changes the log-probability of each written token.

Three answers, each a matrix [written token t, source token s], in nats; above zero: the source
token makes the written one more probable. f_t = log P(y_t | y_<t, source), with the target given.

    occlusion             f_t − f_t without token s: hidden from every head
    gradient × input      ∂f_t/∂x_s · x_s, with x_s the token's embedding
    integrated gradients  (x_s − x'_s) · mean over α of ∂f_t/∂x_s at x' + α (x − x')

The baseline x' is the same sentence with its words' embeddings at zero: positions, direction tag
and <eos> stay, so these tokens get exactly 0. Each row should sum to the change f_t(x) − f_t(x')
(completeness), which is returned as well. The integral is computed at more and more points until
the sum misses the change by at most `COMPLETE` of it, or at `STEPS` points; `GAP` says by how much
it misses it.

The integral is adaptive (`integrate`). For rows t and terms s, slopes g_ts are to be integrated
whose sum over s is the derivative of a function f_t, which is known as well. In an interval from a
to b, Simpson's rule gives

    I_ts = (b − a) / 6 · (g_ts(a) + 4 g_ts(m) + g_ts(b)),     m its middle,

and |Σ_s I_ts − (f_t(b) − f_t(a))| is the error of its sum, without any estimate. The intervals with
the largest errors are halved until the errors of all intervals together are within the tolerance
of each row, or there are as many points as are allowed. An interval in which f jumps stays wrong
however often it is halved; slopes at a jump are no measure of it, so they count for nothing there.

Shapes: S source tokens (the terms of the integral), T target tokens, D features, N points on the
path. Integrals are in float64.

Sources: occlusion, Li, Monroe & Jurafsky 2016 (arXiv:1612.08220); gradient × input, Shrikumar et
al. 2016 (arXiv:1605.01713); integrated gradients, Sundararajan, Taly & Yan 2017 (arXiv:1703.01365).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from model.progress import go_on
from model.trace.interventions import Intervention
from model.trace.tensor_names import (
    ATTRIBUTIONS,
    CHANGE,
    GAP,
    GRADIENT_INPUT,
    INTEGRATED,
    INTEGRATIONS,
    OCCLUSION,
)
from model.trace.tensor_tap import KEY, QUERY, SOURCE, TARGET, BatchTap, Recorder, Tap

FIRST = 4  # intervals at the beginning
LOST = 500  # times the allowed error: slopes that are no measure of the function
SMALLEST = 2**-9  # length of an interval that is not halved


@dataclass(frozen=True, eq=False)
class Point:
    """The values of the functions f (T,) and their slopes (T, S) at one point."""

    value: Tensor
    slopes: Tensor


Evaluate = Callable[[Sequence[float]], Sequence[Point]]


@dataclass(frozen=True, eq=False)
class Interval:
    """An interval with the points at its ends and in its middle."""

    start: float
    end: float
    points: tuple[Point, Point, Point]

    @property
    def middle(self) -> float:
        """The place of its middle."""
        return (self.start + self.end) / 2

    def rule(self, allowed: Tensor) -> tuple[Tensor, Tensor]:
        """Return the integral (T, S), and by how much its sum misses the difference of f (T,).

        A row that misses it by `LOST` times what is `allowed` is 0.
        """
        first, middle, last = self.points
        sixth = (self.end - self.start) / 6
        integral = sixth * (first.slopes + 4 * middle.slopes + last.slopes)
        difference = last.value - first.value
        error = (integral.sum(dim=-1) - difference).abs()
        fits = error <= LOST * allowed  # false for NaN as well
        return integral.where(fits[:, None], 0), error.where(fits, difference.abs())

    def halves(self, quarters: Sequence[Point]) -> list[Interval]:
        """Return its halves, given the points in their middles."""
        first, middle, last = self.points
        first_quarter, third_quarter = quarters
        return [
            Interval(self.start, self.middle, (first, first_quarter, middle)),
            Interval(self.middle, self.end, (middle, third_quarter, last)),
        ]


def integrate(
    evaluate: Evaluate, most: int, tolerance: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Return the integrals (T, S) and the differences f(1) − f(0) (T,).

    `evaluate` returns the points at some places; at most `most` are asked for. `tolerance` returns
    the error that each row may have, given the differences.
    """
    grid = [place / (2 * FIRST) for place in range(2 * FIRST + 1)]
    points = evaluate(grid)
    intervals = [
        Interval(
            grid[index], grid[index + 2], (points[index], points[index + 1], points[index + 2])
        )
        for index in range(0, 2 * FIRST, 2)
    ]
    change = points[-1].value - points[0].value
    allowed = tolerance(change)
    used = len(grid)
    while chosen := _worst(intervals, allowed, (most - used) // 2):
        ends = [
            pair
            for interval in chosen
            for pair in ((interval.start, interval.middle), (interval.middle, interval.end))
        ]
        places = [(start + end) / 2 for start, end in ends]
        new_points = evaluate(places)
        used += len(places)
        halved = [
            half
            for index, interval in enumerate(chosen)
            for half in interval.halves(new_points[2 * index : 2 * index + 2])
        ]
        replaced = set(map(id, chosen))
        intervals = [*(interval for interval in intervals if id(interval) not in replaced), *halved]
    return torch.stack([interval.rule(allowed)[0] for interval in intervals]).sum(dim=0), change


def _worst(intervals: Sequence[Interval], allowed: Tensor, count: int) -> list[Interval]:
    """Return the intervals to halve: those that together have half of the largest error.

    None if the errors of all rows are within what is allowed, `count` is 0, or all are too short.
    """
    errors = (
        torch.stack([interval.rule(allowed)[1] for interval in intervals]) / allowed
    )  # (intervals, T)
    totals = errors.sum(dim=0)
    if count < 1 or not bool((totals > 1).any()):
        return []
    row = int(totals.argmax())
    order = errors[:, row].argsort(descending=True).tolist()
    large = [index for index in order if intervals[index].end - intervals[index].start > SMALLEST]
    reached, chosen = 0.0, list[Interval]()
    for index in large[:count]:
        if reached >= float(totals[row]) / 2:
            break
        chosen.append(intervals[index])
        reached += float(errors[index, row])
    return chosen


STEPS = 65  # points on the path of integrated gradients, at most
COMPLETE = 0.02  # of the change, by which a row of integrated gradients may miss it
FINE = 0.01  # nats, by which it may miss a small change
GRADE = 4  # points lie densest at the baseline, where a norm of zeros makes functions steep
LONGEST = 48  # source tokens for integrated gradients: their cost grows with the third power
TOKENS = 2048  # read in one run at most
NUMBERS = 2**23  # in the result of one run at most


def names() -> dict[str, tuple[str, ...]]:
    """Return the tensors that can be selected, with their dims."""
    return {name: (QUERY,) if name in (CHANGE, GAP) else (QUERY, KEY) for name in ATTRIBUTIONS}


@dataclass(frozen=True, eq=False)
class SourceRun:
    """One request alone: what it writes, and how to run copies of it."""

    run: Callable[[int, Tap], Tensor]  # copies, through a tap of as many rows: x (copies, T, …)
    logits: Callable[[Tensor], Tensor]  # of x, row by row: (copies, T, V)
    width: int  # numbers in a row of x
    recorder: Recorder
    written: Sequence[int]  # row i predicts written[i]
    words: Tensor  # (S,) true where a source token is no special token

    def tap(self, changes: Sequence[Sequence[Intervention]]) -> BatchTap:
        """Return the tap of a batch of copies, each with more interventions; it records nothing."""
        recorder = self.recorder
        interventions = [(*recorder.interventions, *added) for added in changes]
        return BatchTap(
            [
                Recorder((), recorder.lengths, recorder.own, row_interventions)
                for row_interventions in interventions
            ]
        )

    def logprobs(self, x: Tensor) -> Tensor:
        """Return the log-probability of each written token (N, written) given x (N, T, …)."""
        ids = torch.tensor(self.written, device=x.device)
        logits = self.logits(x[:, : len(ids)])
        chosen = logits.gather(-1, ids.expand(len(x), -1)[..., None])
        return chosen[..., 0] - logits.logsumexp(dim=-1)

    def at_once(self) -> int:
        """Return the number of copies to run in one batch."""
        source, target = (self.recorder.lengths[text] for text in (SOURCE, TARGET))
        return max(1, min(TOKENS // (source + target), NUMBERS // (target * self.width)))


def attribute(run: SourceRun) -> None:
    """Add the selected attributions to the recorder. Rows of padding are NaN, its columns 0."""
    selected = ATTRIBUTIONS & set(run.recorder.select)
    if not selected:
        return
    with torch.inference_mode(False):  # so that gradients can pass
        alone = replace(run, words=run.words.clone())
    tensors: dict[str, Tensor] = {}
    if OCCLUSION in selected:
        tensors[OCCLUSION] = occlusion(alone)
    if GRADIENT_INPUT in selected:
        tensors[GRADIENT_INPUT] = gradient_input(alone)
    if selected & INTEGRATIONS:
        values, whole = integrated_gradients(alone)
        tensors |= {INTEGRATED: values, CHANGE: whole, GAP: values.sum(dim=-1) - whole}
    elif CHANGE in selected:
        tensors[CHANGE] = change(alone)
    behind = run.recorder.lengths[TARGET] - len(run.written)
    over = {QUERY: TARGET, KEY: SOURCE}
    for name in selected & tensors.keys():
        value = tensors[name]
        pad = (0, behind) if value.dim() == 1 else (0, 0, 0, behind)
        rows = torch.nn.functional.pad(value.float(), pad, value=torch.nan)
        run.recorder.record(name, rows, names()[name], over)


@torch.inference_mode()
def occlusion(run: SourceRun) -> Tensor:
    """Return f − f without each source token (written, S).

    A hidden token is masked in every self-attention of the encoder and every cross-attention of
    the decoder, for all heads, as by the intervention `mask`: nothing reads it, and the others keep
    their positions. A token put in its place, such as <pad>, would be read like a word.
    """
    tokens = run.recorder.own[SOURCE]
    hidden = [(), *((Intervention(SOURCE, "mask", value=token),) for token in range(tokens))]
    parts = []
    for start in range(0, len(hidden), run.at_once()):
        group = hidden[start : start + run.at_once()]
        parts.append(run.logprobs(run.run(len(group), run.tap(group))))
    before, *after = torch.cat(parts).double()
    differences = before.new_zeros(len(run.written), len(run.words))
    differences[:, :tokens] = (before - torch.stack(after)).T
    return differences  # type: ignore[no-any-return]


def gradient_input(run: SourceRun) -> Tensor:
    """Return ∂f/∂x · x for each source token's embedding x (written, S)."""
    [point] = points(run, [1.0], torch.ones_like(run.words))
    return point.slopes


def integrated_gradients(run: SourceRun) -> tuple[Tensor, Tensor]:
    """Return integrated gradients (written, S) from the baseline without words, and f(x) − f(x').

    They are integrated over u, with α = u^`GRADE`.
    """

    def evaluate(places: Sequence[float]) -> list[Point]:
        size = run.at_once()
        parts = (places[start : start + size] for start in range(0, len(places), size))
        return [graded(u, point) for part in parts for u, point in zip(part, at(part), strict=True)]

    def at(part: Sequence[float]) -> list[Point]:
        return points(run, [u**GRADE for u in part], run.words)

    def graded(u: float, point: Point) -> Point:
        # At u = 0 a norm of zeros may have slopes beyond all bounds, which count for nothing.
        slopes = point.slopes * (GRADE * u ** (GRADE - 1)) if u else torch.zeros_like(point.slopes)
        return Point(point.value, slopes)

    return integrate(evaluate, STEPS, tolerance)


def tolerance(change: Tensor) -> Tensor:
    """Return by how much a row of integrated gradients may miss the change (T,)."""
    return (COMPLETE * change.abs()).clamp(min=FINE)


@torch.inference_mode()
def change(run: SourceRun) -> Tensor:
    """Return f(x) − f(x') (written,), the sum of exact integrated gradients over the tokens."""
    path = Path(run.tap([(), ()]), torch.tensor([0.0, 1.0]), run.words)
    before, after = run.logprobs(run.run(2, path)).double()
    return after - before  # type: ignore[no-any-return]


class Path(Tap):
    """A tap around another one that moves copies of a source to points between baseline and itself.

    Copy n reads x' + points[n] (x − x'), where x' is x with the tokens of `moved` (S,) at zero.
    """

    def __init__(self, inner: Tap, points: Tensor, moved: Tensor) -> None:
        self.inner = inner
        self.points = points
        self.moved = moved
        self.held: list[Held] = []

    def at(self, place: str, **over: str) -> Tap:
        inner = self.inner.at(place, **over)
        return _AtSource(inner, self) if place == SOURCE else inner

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        return self.inner(name, value, dims)


@dataclass(frozen=True)
class Held:
    """The embeddings that the copies read, and x − x', both (N, S, D)."""

    read: Tensor
    step: Tensor


class _AtSource(Tap):
    def __init__(self, inner: Tap, path: Path) -> None:
        self.inner = inner
        self.path = path

    def at(self, place: str, **over: str) -> Tap:
        return self.inner.at(place, **over)

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        value = self.inner(name, value, dims)
        if name != "embedding":
            return value
        step = value.detach() * self.path.moved[:, None]
        base = value.detach() - step
        # Not the end minus a part of the way, which has no digits left near the baseline.
        read = base + self.path.points.to(step)[:, None, None] * step
        read.requires_grad_(torch.is_grad_enabled())
        self.path.held.append(Held(read, step))
        return read


def points(run: SourceRun, places: Sequence[float], moved: Tensor) -> list[Point]:
    """Return f and ∂f/∂x · (x − x'), summed over features, at places on the path, in float64.

    One run for all places, and one backward pass for each written token: through the run's result
    x, whose row t alone gives f_t. If x is the decoder's output, all rows share one pass through
    the output matrix.
    """
    path = Path(run.tap([()] * len(places)), torch.tensor(places, dtype=torch.float64), moved)
    with torch.inference_mode(False), torch.enable_grad():
        x = run.run(len(places), path)
        [embedding] = path.held
        end = x.detach().requires_grad_()
        values = run.logprobs(end)
        [into] = torch.autograd.grad(values.sum(), end)
        rows = []
        for row in range(len(run.written)):
            go_on()
            only = torch.zeros_like(into)
            only[:, row] = into[:, row]
            [slope] = torch.autograd.grad(
                x, embedding.read, only, retain_graph=True, materialize_grads=True
            )
            rows.append((slope.double() * embedding.step).sum(dim=-1))
    pairs = zip(values.detach().double(), torch.stack(rows, dim=1), strict=True)
    return [Point(*pair) for pair in pairs]
