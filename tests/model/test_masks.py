"""Masks against a loop over queries and keys."""

from collections.abc import Callable

import pytest
import torch

from model.transformer.config import ModelConfig
from model.transformer.masks import allowed, named, spelled

RULES: dict[str, Callable[[int, int], bool]] = {
    "padding": lambda i, j: True,
    "causal": lambda i, j: j <= i,
    "window-1": lambda i, j: i == j,
    "window-3": lambda i, j: i - 2 <= j <= i + 2,
    "causal & window-3": lambda i, j: i - 2 <= j <= i,
    "window-4&causal": lambda i, j: i - 3 <= j <= i,
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("length", [1, 2, 3, 7, 12])
def test_every_cell(name: str, length: int) -> None:
    real = torch.arange(length) < torch.tensor([length, max(1, length - 3)])[:, None]
    for start in range(length):  # with a cache, only the last queries are given
        queries = torch.arange(start, length)
        mask = allowed(named(name), real, queries, torch.arange(length))
        expected = [
            [[RULES[name](i, j) and bool(row[j]) for j in range(length)] for i in queries.tolist()]
            for row in real
        ]
        assert mask.tolist() == expected


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("padding", "padding"),
        ("window-4&causal", "causal & window-4"),
        ("causal & padding", "causal"),
        (" window-2 &causal& window-2", "causal & window-2"),
        ("padding&window-3", "window-3"),
    ],
)
def test_a_mask_is_told_in_one_spelling(name: str, told: str) -> None:
    assert spelled(name) == told
    at = torch.arange(9)
    assert torch.equal(*(named(one)(at, at).expand(9, 9) for one in (name, told)))
    assert ModelConfig(9, decoder_mask="causal", encoder_mask=name).masks["encoder.self"] == told


def test_a_slice_of_the_keys() -> None:
    real = torch.arange(9) < 7
    rule = named("causal & window-4")
    every = allowed(rule, real[None], torch.arange(9), torch.arange(9))
    some = allowed(rule, real[None], torch.tensor([4, 8]), torch.tensor([2, 6, 7]))
    assert torch.equal(some, every[:, [4, 8]][:, :, [2, 6, 7]])


@pytest.mark.parametrize(
    "name",
    ["", "holes", "window", "window-0", "window-x", "window--1", "causal-3", "causal &", "-"],
)
def test_unknown_names_say_which_there_are(name: str) -> None:
    with pytest.raises(ValueError, match=r"known: \['padding', 'causal', 'window-n'\]"):
        named(name)
