"""Parallel text: from TSV files to batches of ids on the training device."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from model.tokens import Tokenizer, normalise


@dataclass(frozen=True)
class Example:
    """A sentence, its translation, and the language of the translation."""

    source: str
    target: str
    language: str


@dataclass(frozen=True)
class Batch:
    """Ids, padded, and their masks (true = no padding): (B, S) and (B, T)."""

    source: Tensor  # tag, pieces, <eos>
    source_real: Tensor
    read: Tensor  # <bos>, pieces
    written: Tensor  # pieces, <eos>
    target_real: Tensor

    @property
    def tokens(self) -> Tensor:
        """How many tokens are no padding, source and target together."""
        return self.source_real.sum() + self.target_real.sum()


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Two texts a line, tab-separated; a group number in front of them is passed over.

    Reads `.gz` too. Raises `ValueError` naming the line that has another shape.
    """
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    pairs = []
    for number, line in enumerate(text.rstrip("\n").split("\n"), 1):
        columns = line.split("\t")
        if len(columns) not in (2, 3):
            raise ValueError(f"{path}, line {number}: {len(columns)} columns, not 2 or 3")
        first, second = (normalise(column) for column in columns[-2:])
        if first and second:
            pairs.append((first, second))
    return pairs


def both_ways(pairs: Iterable[tuple[str, str]], languages: tuple[str, str]) -> list[Example]:
    """Each pair as two examples, one a direction."""
    first, second = languages
    return [example for a, b in pairs for example in (Example(a, b, second), Example(b, a, first))]


def augment(examples: Sequence[Example], share: float, seed: int) -> list[Example]:
    """New examples, `share` as many as there are, of what people type and corpora lack.

    Half are two sentences in one input; the others have a source in lower case, in capitals, or
    without its final mark. The translation stays as it is: the model learns not to mind.
    """
    chance = random.Random(seed)
    by_language: dict[str, list[Example]] = {}
    for example in examples:
        by_language.setdefault(example.language, []).append(example)
    made = []
    for _ in range(round(share * len(examples))):
        one = chance.choice(examples)
        if chance.random() < 0.5:
            made.append(_joined(one, chance.choice(by_language[one.language])))
        else:
            made.append(Example(_careless(one.source, chance), one.target, one.language))
    return made


def _joined(one: Example, two: Example) -> Example:
    def join(a: str, b: str) -> str:
        return normalise(a + b if a[-1:] in "。？！，" else f"{a} {b}")

    return Example(join(one.source, two.source), join(one.target, two.target), one.language)


def _careless(text: str, chance: random.Random) -> str:
    changes: list[Callable[[str], str]] = [
        str.lower,
        str.lower,
        str.upper,
        lambda text: text.rstrip(".。!！"),
    ]
    return normalise(chance.choice(changes)(text)) or text


class Corpus:
    """Examples as ids on a device; those longer than `max_tokens` are left out."""

    def __init__(
        self,
        examples: Sequence[Example],
        tokenizer: Tokenizer,
        max_tokens: int,
        device: torch.device,
    ) -> None:
        self.device = device
        self.pad = tokenizer.pad
        rows = [
            (source, target)
            for source, target in _segmented(examples, tokenizer)
            if max(len(source), len(target) - 1) <= max_tokens
        ]
        self.source = _flat([source for source, _ in rows], device)
        self.target = _flat([target for _, target in rows], device)

    def __len__(self) -> int:
        return len(self.source.lengths)

    def count(self, size: int) -> int:
        """How many batches an epoch has, give or take a few for another epoch's order."""
        return len(self._plan(size, 0, 0))

    def batches(self, size: int, seed: int, epoch: int, skip: int = 0) -> Iterator[Batch]:
        """One epoch, without its first `skip` batches, in an order that seed and epoch decide.

        A batch holds at most `size` tokens, padding included, source and target together.
        """
        for rows in self._plan(size, seed, epoch)[skip:]:
            yield self._batch(rows.to(self.device))

    def _plan(self, size: int, seed: int, epoch: int) -> list[Tensor]:
        """The rows of each batch."""
        generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
        lengths = torch.stack([self.source.lengths, self.target.lengths]).cpu()  # (2, examples)
        # Similar lengths share a batch; the noise gives each epoch other neighbours.
        noise = torch.rand(lengths.shape[1], generator=generator) * 2
        order = (lengths.sum(dim=0) + noise).argsort()
        groups = _groups(lengths[:, order].amax(dim=0).tolist(), size // 2)
        shuffled = torch.randperm(len(groups), generator=generator).tolist()
        return [order[slice(*groups[index])] for index in shuffled]

    def _batch(self, rows: Tensor) -> Batch:
        ids, real = self.source.padded(rows, self.pad)
        full, full_real = self.target.padded(rows, self.pad)
        return Batch(ids, real, full[:, :-1], full[:, 1:], full_real[:, 1:])


@dataclass(frozen=True)
class _Flat:
    """Rows of ids end to end."""

    ids: Tensor  # (total,)
    starts: Tensor  # (rows,)
    lengths: Tensor  # (rows,)

    def padded(self, rows: Tensor, pad: int) -> tuple[Tensor, Tensor]:
        """The rows as (B, longest) and where they are no padding."""
        lengths = self.lengths[rows]
        offsets = torch.arange(int(lengths.max()), device=rows.device)
        real = offsets[None, :] < lengths[:, None]
        places = (self.starts[rows][:, None] + offsets).clamp(max=len(self.ids) - 1)
        return torch.where(real, self.ids[places].long(), pad), real


def _flat(rows: Sequence[list[int]], device: torch.device) -> _Flat:
    lengths = torch.tensor([len(row) for row in rows])
    ids = torch.tensor([id_ for row in rows for id_ in row], dtype=torch.int32)
    return _Flat(ids.to(device), (lengths.cumsum(0) - lengths).to(device), lengths.to(device))


def _segmented(
    examples: Sequence[Example], tokenizer: Tokenizer
) -> Iterator[tuple[list[int], list[int]]]:
    """Tag, pieces and <eos>; <bos>, pieces and <eos>."""
    sources = tokenizer.ids([example.source for example in examples])
    targets = tokenizer.ids([example.target for example in examples])
    tags = {language: tokenizer.tag(language).id for language in tokenizer.languages}
    for example, source, target in zip(examples, sources, targets, strict=True):
        yield (
            [tags[example.language], *source, tokenizer.eos],
            [tokenizer.bos, *target, tokenizer.eos],
        )


def _groups(longest: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Cuts rows sorted by length into runs with rows × longest ≤ size."""
    groups, begin, most = [], 0, 0
    for index, length in enumerate(longest):
        most = max(most, length)
        if index > begin and (index + 1 - begin) * most > size:
            groups.append((begin, index))
            begin, most = index, length
    groups.append((begin, len(longest)))
    return groups
