"""Decoding for tests: random sources and a reader of them."""

import torch

from model.decode.greedy_and_sampling import Reader
from model.text.tokens import Tokenizer
from model.transformer.stacks import Transformer


def reader(
    model: Transformer, tokenizer: Tokenizer, lengths: list[int], cached: bool = True
) -> Reader:
    return Reader(model, tokenizer, *sources(tokenizer, lengths), cached=cached)


def sources(tokenizer: Tokenizer, lengths: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return random ids of sources with these lengths, and a mask that is false for padding."""
    generator = torch.Generator().manual_seed(len(lengths))
    source = torch.randint(5, len(tokenizer), (len(lengths), max(lengths)), generator=generator)
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return source, real
