"""Batches of parallel text for measurements."""

from __future__ import annotations

from collections.abc import Sequence

from model.bundle.weights import Bundle
from model.train.data import Corpus, TokenBatch
from model.train.pairs import TextPair, both_ways

BATCH = 4096  # tokens, including padding


def batches_of(bundle: Bundle, pairs: Sequence[TextPair], seed: int = 0) -> list[TokenBatch]:
    """Return the pairs in both directions, in batches in a seeded order, on the bundle's device."""
    first, second = bundle.languages
    examples = both_ways(pairs, (first, second))
    limit = bundle.model.config.max_tokens
    corpus = Corpus(examples, bundle.tokenizer, limit, bundle.device)
    return list(corpus.batches(BATCH, seed, 0))
