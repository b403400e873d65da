"""Word alignment from cross-attention, and its error against human alignment.

A target word is aligned to the source word with the most weight. Weights on a source word's pieces
are summed, rows of a target word's pieces averaged. The rows are those that *write* a piece, that
is, predict it, as on the page (Garg et al. 2019), or the next rows, which *read* it: by then the
decoder knows which word to align (Chen et al. 2020, "shift", arXiv:2004.14837).

The head that is closest to human word alignment is chosen on the first half of the pairs; its error
is reported on the second.

Sources: alignment error rate, Och & Ney 2003, section 2; two directions combined, Koehn, Och &
Marcu 2003, section 4; faint links left out, Dou & Neubig 2021 (arXiv:2101.08231).

Words of a text are groups of its tokens, as on the page.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.bundle.measurements import READS, WRITES
from model.text.tokens import Token
from model.text.writing_systems import SCRIPTS, fold
from model.trace.attentions import CROSS
from model.trace.tensor_tap import NamedTensor

SENTENCES_AT_ONCE = 48  # sentences


def word_groups(tokens: Sequence[Token]) -> list[list[int]]:
    """Return the tokens of each word, as the page groups them (`words` in alignment.js).

    Adjacent pieces of letters, digits and apostrophes are a word, and so are the bytes of one
    character; a Chinese character is a word by itself. Special tokens are left out.
    """
    groups: list[list[int]] = []
    before: Token | None = None
    for index, token in enumerate(tokens):
        if token.special:
            before = None
            continue
        if before and (_same_character(before, token) or _joins(before, token)):
            groups[-1].append(index)
        else:
            groups.append([index])
        before = token
    return groups


def _same_character(before: Token, token: Token) -> bool:
    return token.end > token.start and (before.start, before.end) == (token.start, token.end)


def _joins(before: Token, token: Token) -> bool:
    if before.end != token.start or not before.text or not token.text:
        return False
    return _in_word(before.text[-1]) and _in_word(token.text[0])


def _in_word(character: str) -> bool:
    if SCRIPTS["Han"].match(character):
        return False
    return character in "'’" or unicodedata.category(character)[0] in "LMN"


def is_word(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(unicodedata.category(character)[0] in "LN" for character in text)


def spelled(text: str, tokens: Sequence[Token], group: Sequence[int]) -> str:
    """Return a word of the text without space, folded: capitals and variants of characters."""
    return fold(text[tokens[group[0]].start : tokens[group[-1]].end]).strip().lower()


def mean_probability(logprobs: Sequence[float]) -> float:
    """Return the geometric mean of the tokens' probabilities."""
    return math.exp(sum(logprobs) / max(1, len(logprobs)))


def traces(
    adapter: EncoderDecoder, texts: Sequence[str], direction: str, select: tuple[str, ...] = ()
) -> list[Trace | None]:
    """Return the greedy translations in the order of the texts; None for one that is too long."""
    requests = [Request(text, direction, select=select) for text in texts]
    fit = [row for row, request in enumerate(requests) if adapter.takes(request)]
    fit.sort(key=lambda row: len(texts[row]))
    results: list[Trace | None] = [None] * len(texts)
    for begin in range(0, len(fit), SENTENCES_AT_ONCE):
        rows = fit[begin : begin + SENTENCES_AT_ONCE]
        for row, trace in zip(rows, adapter.run([requests[row] for row in rows]), strict=True):
            results[row] = trace
    return results


Link = tuple[int, int]  # indices, from 0, of a word of the first text and one of the second

BATCH = 16

JOINED = "both, joined"  # the links of both directions combined

# Weights ("2.3": layer 2, head 3; "2": mean of layer 2's heads; "all") and rows.
Looked = tuple[str, str]


@dataclass(frozen=True)
class AlignedPair:
    """Two texts in words, and the links between them: sure ones and possible ones."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    sure: frozenset[Link]
    possible: frozenset[Link]  # including the sure ones

    def swapped(self) -> AlignedPair:
        """Return the pair with its sides swapped."""
        return AlignedPair(self.second, self.first, mirrored(self.sure), mirrored(self.possible))


def read_aligned_pairs(folder: Path) -> list[AlignedPair]:
    """Read `sentences.txt`, with ``first ||| second`` per line, and `gold.txt`, with links.

    Links count words from 1: ``1-2`` sure, ``1p2`` possible. Raises `ValueError` for different
    lengths.
    """
    sentences = (folder / "sentences.txt").read_text(encoding="utf-8").splitlines()
    gold = (folder / "gold.txt").read_text(encoding="utf-8").splitlines()
    pairs = []
    for sentence, links in zip(sentences, gold, strict=True):
        first, second = (tuple(side.split()) for side in sentence.split("|||"))
        sure = frozenset(_link(link, "-") for link in links.split() if "-" in link)
        maybe = frozenset(_link(link, "p") for link in links.split() if "-" not in link)
        pairs.append(AlignedPair(first, second, sure, sure | maybe))
    return pairs


def _link(text: str, between: str) -> Link:
    first, second = text.split(between)
    return int(first) - 1, int(second) - 1


def error_rate(links_found: Iterable[Set[Link]], pairs: Iterable[AlignedPair]) -> float:
    """Return AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), with counts summed over all pairs."""
    right = total = 0
    for links, pair in zip(links_found, pairs, strict=True):
        right += len(links & pair.sure) + len(links & pair.possible)
        total += len(links) + len(pair.sure)
    return 1 - right / total


def joined(words: Sequence[str], language: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the words as one text, and the half-open span of each."""
    space = "" if language == "zh" else " "
    text, spans = "", []
    for word in words:
        start = len(text) + (len(space) if text else 0)
        text = text + (space if text else "") + word
        spans.append((start, start + len(word)))
    return text, spans


def membership(tokens: Sequence[Token], spans: Sequence[tuple[int, int]]) -> Tensor:
    """Return (words, tokens): 1 where a token is a piece of a word, by their offsets."""
    belongs = torch.zeros(len(spans), len(tokens))
    for column, token in enumerate(tokens):
        if token.special:
            continue
        middle = max(token.start, token.end - 1)  # a leading space belongs to the previous word
        for row, (start, end) in enumerate(spans):
            if start <= middle < end:
                belongs[row, column] = 1
    return belongs


def words(weights: Tensor, written: Tensor, source: Tensor) -> Tensor:
    """Convert weights (…, T, S) between tokens to (…, written words, source words).

    `written` (words, T) and `source` (words, S) are memberships.
    """
    share = written / written.sum(dim=1, keepdim=True).clamp(min=1)
    return share @ weights @ source.T


def links(between: Tensor, written: Tensor) -> dict[Link, float]:
    """Return (source word, written word) with its weight for each written word that has tokens.

    `between` is (W, S).
    """
    largest, best = (values.tolist() for values in between.max(dim=1))
    has_tokens = written.any(dim=1).tolist()
    return {(best[word], word): largest[word] for word in range(len(best)) if has_tokens[word]}


def kept(links: Mapping[Link, float], least: float = 0.0) -> frozenset[Link]:
    """Return the links with at least this weight."""
    return frozenset(link for link, weight in links.items() if weight >= least)


def grown(forth: Set[Link], back: Set[Link]) -> frozenset[Link]:
    """Combine the links of two directions by grow-diag: start from the links found in both.

    A link of either direction is added if it is horizontally, vertically or diagonally next to one
    already included, and one of its words is not linked yet. This repeats until nothing changes
    (Koehn, Och & Marcu 2003, Statistical Phrase-Based Translation, section 4).
    """
    grown_links, candidates = set(forth & back), sorted(forth ^ back)
    while True:
        before = len(grown_links)
        for first, second in candidates:
            lonely = all(first != a for a, _ in grown_links) or all(
                second != b for _, b in grown_links
            )
            if lonely and any(max(abs(first - a), abs(second - b)) == 1 for a, b in grown_links):
                grown_links.add((first, second))
        if len(grown_links) == before:
            return frozenset(grown_links)


def fitting(adapter: Adapter, pairs: Sequence[AlignedPair], direction: str) -> list[AlignedPair]:
    """Return the pairs, source first, that the model can read."""
    return [pair for pair in pairs if adapter.takes(_request(adapter, pair, direction))]


def mirrored(links: Iterable[Link]) -> frozenset[Link]:
    """Return the links with their sides swapped."""
    return frozenset((b, a) for a, b in links)


def aligned(
    adapter: Adapter,
    pairs: Sequence[AlignedPair],
    direction: str,
    keys: Container[Looked] | None = None,
) -> dict[Looked, list[dict[Link, float]]]:
    """Return links (first word, second word) with weights for every pair, by place.

    `pairs` have the source first; without `keys`, every place. A text longer than the model can
    read raises `InputError`.
    """
    links_by_key: dict[Looked, list[dict[Link, float]]] = {}
    from_, to = direction.split("-")
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        traces = adapter.run([_request(adapter, pair, direction) for pair in batch])
        for trace, pair in zip(traces, batch, strict=True):
            source = membership(trace.texts["source"], joined(pair.first, from_)[1])
            spans = joined(pair.second, to)[1]
            rows = {
                WRITES: membership(trace.output.tokens, spans),
                READS: membership(trace.texts["target"], spans),
            }
            for key, weights in _averages(trace.tensors.values()).items():
                for row, belongs in rows.items():
                    if keys is not None and (key, row) not in keys:
                        continue
                    pair_links = links(words(weights, belongs, source), belongs)
                    links_by_key.setdefault((key, row), []).append(pair_links)
    return links_by_key


def _request(adapter: Adapter, pair: AlignedPair, direction: str) -> Request:
    (source, _), (target, _) = (
        joined(words, code)
        for words, code in zip((pair.first, pair.second), direction.split("-"), strict=True)
    )
    crossing = (attention.place for attention in adapter.info.attentions if attention.kind == CROSS)
    select = tuple(f"{place}.weights" for place in crossing)
    return Request(source, direction, target, select=select)


def _averages(layers: Iterable[NamedTensor]) -> dict[str, Tensor]:
    """Return each head's weights (T, S), each layer's mean, and the mean of all."""
    stack = torch.stack([layer.value for layer in layers])  # (layers, heads, T, S)
    named = {"all": stack.mean(dim=(0, 1))}
    for layer, heads in enumerate(stack):
        named[str(layer)] = heads.mean(dim=0)
        named |= {f"{layer}.{head}": weights for head, weights in enumerate(heads)}
    return named


LEAST = [step / 20 for step in range(13)]  # thresholds to try for the weight of a link


@dataclass(frozen=True)
class Half:
    """Hand-aligned pairs, and the links found for each pair in both directions, by place."""

    pairs: list[AlignedPair]
    there: dict[Looked, list[dict[Link, float]]]
    back: dict[Looked, list[dict[Link, float]]]

    def rates(self, key: Looked, least: float = 0.0) -> list[float]:
        """Return error rates in each direction and with both joined, for links above a weight."""
        forth = [kept(links, least) for links in self.there[key]]
        back = [mirrored(kept(links, least)) for links in self.back[key]]
        joined_links = [grown(*links) for links in zip(forth, back, strict=True)]
        return [error_rate(pair_links, self.pairs) for pair_links in (forth, back, joined_links)]


def alignment(adapter: EncoderDecoder, folder: Path, languages: Sequence[str]) -> dict[str, Any]:
    """Return error rates on both halves, and the heads chosen on the first half."""
    pairs = read_aligned_pairs(folder)
    middle = len(pairs) // 2
    first, second = languages
    forth, back = f"{second}-{first}", f"{first}-{second}"
    halves = []
    for part in (pairs[:middle], pairs[middle:]):
        fit = fitting(adapter, part, forth)
        fit = [pair.swapped() for pair in fitting(adapter, [p.swapped() for p in fit], back)]
        turned = [pair.swapped() for pair in fit]
        halves.append(Half(fit, aligned(adapter, fit, forth), aligned(adapter, turned, back)))
    ways = forth, back, JOINED
    measured = {key: [half.rates(key) for half in halves] for key in halves[0].there}
    rates = {
        way: {key: [rates_[index] for rates_ in by_half] for key, by_half in measured.items()}
        for index, way in enumerate(ways)
    }
    best = best_heads([rates[forth], rates[back]])
    return {
        "pairs": len(pairs),
        "used": [len(half.pairs) for half in halves],
        "directions": {
            direction: [
                {"weights": key, "rows": row, "chosen on": chosen, "reported on": reported}
                for (key, row), (chosen, reported) in measured_.items()
            ]
            for direction, measured_ in rates.items()
        },
        "best": [head | {"firm": firm(halves, head, ways)} for head in best],
    }


def firm(halves: Sequence[Half], head: Mapping[str, Any], ways: Sequence[str]) -> dict[str, Any]:
    """Return the threshold of link weights with the lowest error on the first half.

    The error is the mean of both directions. Also returns its error rates on the second half.
    """
    key = f"{head['layer']}.{head['head']}", head["rows"]
    first, second = halves
    least = min(LEAST, key=lambda least: sum(first.rates(key, least)[:2]))
    reported = dict(zip(ways, second.rates(key, least), strict=True))
    return {
        "least": least,
        "chosen on": sum(first.rates(key, least)[:2]) / 2,
        "reported on": reported,
    }


def best_heads(
    rates: Sequence[Mapping[Looked, Sequence[float]]],
) -> list[dict[str, Any]]:
    """Return, for each kind of rows, the head with the lowest error on the first half.

    The error is the mean of both directions. The better of the two heads comes first.
    """

    def mean(half: int, key: Looked) -> float:
        return sum(rate[key][half] for rate in rates) / len(rates)

    best = []
    for rows in (WRITES, READS):
        single = [key for key in rates[0] if "." in key[0] and key[1] == rows]
        key = min(single, key=lambda key: mean(0, key))
        layer, head = (int(part) for part in key[0].split("."))
        place = {"layer": layer, "head": head, "rows": rows}
        best.append(place | {"chosen on": mean(0, key), "reported on": mean(1, key)})
    return sorted(best, key=lambda head: head["chosen on"])
