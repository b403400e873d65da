"""Parallel text: TSV files, the examples that a model learns from, and their batches of ids."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from model.errors import FileError
from model.file_reading import reading
from model.text.tokens import Tokenizer, normalise

TextPair = tuple[str, str]  # a text and its translation
Languages = tuple[str, str]  # codes, in the order of the columns
MOST = 8 << 30  # bytes of text in one file


@dataclass(frozen=True)
class TrainingExample:
    """A sentence, its translation, and the language of the translation."""

    source: str
    target: str
    language: str
    weight: float = 1.0  # how often it stands in an epoch, on average


def read_rows(path: Path, columns: tuple[int, ...] = (2, 3)) -> list[list[str]]:
    """Return the tab-separated columns of each line: two texts, optionally after a group.

    Reads `.gz` too. Raises `FileError` for a damaged file and for a malformed line.
    """
    with reading(path):
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rb") as file:
            data = file.read(MOST + 1)
        if len(data) > MOST:
            raise FileError(path, f"it has more than {MOST:,} bytes of text")
        text = data.decode("utf-8")
    rows = [line.split("\t") for line in text.rstrip("\n").split("\n")]
    for number, row in enumerate(rows, 1):
        if len(row) not in columns:
            expected = " or ".join(map(str, columns))
            raise FileError(path, f"line {number} has {len(row)} columns, not {expected}")
    return rows


def read_pairs(path: Path) -> list[TextPair]:
    """Return the texts of each row (see `read_rows`), normalised; incomplete rows are dropped."""
    pairs = ((normalise(row[-2]), normalise(row[-1])) for row in read_rows(path))
    return [(first, second) for first, second in pairs if first and second]


def both_ways(pairs: Iterable[TextPair], languages: Languages) -> list[TrainingExample]:
    """Return each pair as two examples, one per direction."""
    first, second = languages
    return [
        example
        for a, b in pairs
        for example in (TrainingExample(a, b, second), TrainingExample(b, a, first))
    ]


def read_back(path: Path) -> list[tuple[str, TextPair]]:
    """Return the language of the human text, and the texts of each row by `back-translate`."""
    return [
        (row[0], (normalise(row[1]), normalise(row[2]))) for row in read_rows(path, columns=(3,))
    ]


@dataclass(frozen=True)
class TokenBatch:
    """Padded ids and their masks (true = not padding): (B, S) and (B, T)."""

    source: Tensor  # tag, pieces, <eos>
    source_real: Tensor
    read: Tensor  # <bos>, pieces
    written: Tensor  # pieces, <eos>
    target_real: Tensor

    @property
    def tokens(self) -> Tensor:
        """Number of tokens that are not padding, source and target together."""
        return self.source_real.sum() + self.target_real.sum()


class Corpus:
    """Examples as ids on a device; those longer than `max_tokens` are left out.

    Raises `ValueError` if none is left.
    """

    def __init__(
        self,
        examples: Sequence[TrainingExample],
        tokenizer: Tokenizer,
        max_tokens: int,
        device: torch.device,
    ) -> None:
        self.device = device
        self.pad = tokenizer.pad
        rows = {
            index: (source, target)
            for index, (source, target) in enumerate(_segmented(examples, tokenizer))
            if max(len(source), len(target) - 1) <= max_tokens
        }
        if not rows:
            raise ValueError(f"none of {len(examples)} examples fits into {max_tokens} tokens")
        self.kept = torch.tensor([*rows])  # indices of the examples that are kept
        self.weights = torch.tensor([examples[index].weight for index in rows])
        self.source = _flat([source for source, _ in rows.values()], device)
        self.target = _flat([target for _, target in rows.values()], device)

    def __len__(self) -> int:
        return len(self.source.lengths)

    def count(self, size: int) -> int:
        """Return the number of batches of an epoch, which varies slightly with its order."""
        return len(self._plan(size, 0, 0))

    def batches(self, size: int, seed: int, epoch: int, skip: int = 0) -> Iterator[TokenBatch]:
        """Yield one epoch without its first `skip` batches; seed and epoch give rows and order.

        A batch has at most `size` tokens, including padding, source and target together.
        """
        for rows in self._plan(size, seed, epoch)[skip:]:
            yield self._batch(rows.to(self.device))

    def all_once(self, size: int) -> Iterator[tuple[Tensor, TokenBatch]]:
        """Yield every example once, in batches as above: the indices of the examples, the batch."""
        for rows in self._batched(torch.arange(len(self)), size, 0, 0):
            yield self.kept[rows], self._batch(rows.to(self.device))

    def _plan(self, size: int, seed: int, epoch: int) -> list[Tensor]:
        """Return the rows of each batch of an epoch."""
        return self._batched(self._drawn(seed, epoch), size, seed, epoch)

    def _drawn(self, seed: int, epoch: int) -> Tensor:
        """Return the rows of an epoch: each as often as its weight, a fraction by chance."""
        if bool((self.weights == 1).all()):
            return torch.arange(len(self))
        generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
        times = (self.weights + torch.rand(len(self), generator=generator)).floor().long()
        return torch.arange(len(self)).repeat_interleave(times)

    def _batched(self, rows: Tensor, size: int, seed: int, epoch: int) -> list[Tensor]:
        """Return rows in batches, in an order given by seed and epoch."""
        generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
        both = torch.stack([self.source.lengths, self.target.lengths]).cpu()
        lengths = both[:, rows]  # (2, rows)
        # Sources of similar length share a batch, and among them targets of similar length, so that
        # there is little padding. The noise varies the batches from epoch to epoch.
        noise = torch.rand(lengths.shape, generator=generator) * 2
        source, target = (lengths + noise).unbind()
        order = target.argsort()
        order = order[source[order].floor().argsort(stable=True)]
        groups = _groups(lengths[:, order].T.tolist(), size)
        shuffled = torch.randperm(len(groups), generator=generator).tolist()
        return [rows[order[slice(*groups[index])]] for index in shuffled]

    def _batch(self, rows: Tensor) -> TokenBatch:
        ids, real = self.source.padded(rows, self.pad)
        full, full_real = self.target.padded(rows, self.pad)
        return TokenBatch(ids, real, full[:, :-1], full[:, 1:], full_real[:, 1:])


@dataclass(frozen=True)
class _Flat:
    """Rows of ids, concatenated."""

    ids: Tensor  # (total,)
    starts: Tensor  # (rows,)
    lengths: Tensor  # (rows,)

    def padded(self, rows: Tensor, pad: int) -> tuple[Tensor, Tensor]:
        """Return the rows as (B, longest), and a mask that is true where they are not padding."""
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
    examples: Sequence[TrainingExample], tokenizer: Tokenizer
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the ids of each example: tag, pieces and <eos>; <bos>, pieces and <eos>."""
    sources = tokenizer.ids([example.source for example in examples])
    targets = tokenizer.ids([example.target for example in examples])
    tags = {language: tokenizer.tag(language).id for language in tokenizer.languages}
    for example, source, target in zip(examples, sources, targets, strict=True):
        yield (
            [tags[example.language], *source, tokenizer.eos],
            [tokenizer.bos, *target, tokenizer.eos],
        )


def _groups(lengths: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Split rows (source length, target length) into runs of at most `size` padded tokens."""
    groups, begin, source, target = [], 0, 0, 0
    for index, (a, b) in enumerate(lengths):
        source, target = max(source, a), max(target, b)
        if index > begin and (index + 1 - begin) * (source + target) > size:
            groups.append((begin, index))
            begin, source, target = index, a, b
    groups.append((begin, len(lengths)))
    return groups
