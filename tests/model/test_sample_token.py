"""Sampling a token: from the remaining distribution, with its frequencies."""

import math
from collections import Counter
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from model.decode.greedy_and_sampling import Draw, narrowed, sample

PROBABILITIES = [0.35, 0.05, 0.25, 0.1, 0.2, 0.05]
DRAWS = [
    Draw(),
    Draw(temperature=0.5),
    Draw(temperature=2.0, top_k=3),
    Draw(top_p=0.7),
    Draw(temperature=1.5, top_k=4, top_p=0.8),
]


def allowed(probabilities: list[float], draw: Draw) -> list[float]:
    """Compute the probabilities of sampling by hand."""
    cooled = [p ** (1 / draw.temperature) for p in probabilities]
    order = sorted(range(len(cooled)), key=lambda id_: -cooled[id_])[: draw.top_k]
    total = sum(cooled[id_] for id_ in order)
    kept: dict[int, float] = {}
    for id_ in order:
        if sum(kept.values()) / total >= draw.top_p:
            break
        kept[id_] = cooled[id_]
    return [kept.get(id_, 0.0) / sum(kept.values()) for id_ in range(len(cooled))]


class Stub:
    """A reader whose rows all have the same next tokens."""

    def __init__(self, logprobs: Tensor) -> None:
        self.next = logprobs

    def logprobs(self) -> Tensor:
        return self.next


class Alphabet:
    """The part of a tokenizer that sampling needs."""

    ends = frozenset[int]()


@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_top_k_and_top_p_keep_the_right_tokens(draw: Draw) -> None:
    found = narrowed(torch.tensor(PROBABILITIES).log(), draw).exp()
    assert found.tolist() == pytest.approx(allowed(PROBABILITIES, draw), abs=1e-6)


@torch.inference_mode()
@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_frequencies_are_the_probabilities(draw: Draw) -> None:
    """Apply a chi-squared test to 4,000 first tokens, at the 0.1 % level."""
    times = 4000
    chances = allowed(PROBABILITIES, draw)
    logprobs = torch.tensor(PROBABILITIES).log().repeat(times, 1)
    draws = [replace(draw, seed=seed) for seed in range(times)]
    [step] = sample(Stub(logprobs), Alphabet(), [1] * times, draws)  # type: ignore[arg-type]
    rows = step.written
    counts = Counter(row.ids[0] for row in rows)
    open_ = [id_ for id_, chance in enumerate(chances) if chance]
    assert set(counts) <= set(open_)
    squares = [(counts[i] - times * chances[i]) ** 2 / (times * chances[i]) for i in open_]
    critical = {1: 10.83, 2: 13.82, 3: 16.27, 4: 18.47, 5: 20.52}  # of χ², by degrees of freedom
    assert sum(squares) < critical[max(len(open_) - 1, 1)]
    assert rows[0].logprobs[0] == pytest.approx(math.log(PROBABILITIES[rows[0].ids[0]]))


@torch.inference_mode()
@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_a_sample_reports_the_size_of_its_pool(draw: Draw) -> None:
    chances = allowed(PROBABILITIES, draw)
    stub, alphabet = Stub(torch.tensor([PROBABILITIES]).log()), Alphabet()
    [step] = sample(stub, alphabet, [1], [draw])  # type: ignore[arg-type]
    [branch] = step.branches
    assert branch.drawn is not None
    assert branch.drawn.pool == sum(chance > 0 for chance in chances)
    assert branch.drawn.probability == pytest.approx(chances[branch.hypothesis.ids[0]], abs=1e-6)
