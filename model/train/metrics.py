"""Translation quality: BLEU and chrF by sacreBLEU, against all references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.request import Decode, Request
from model.train.data import read_rows


@dataclass(frozen=True)
class TestSet:
    """Distinct sources and, for each, every distinct reference."""

    __test__ = False  # not a test case, despite its name

    direction: str
    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]


def read_test_sets(path: Path, languages: tuple[str, str] = ("en", "zh")) -> list[TestSet]:
    """Read both directions of `group<TAB>a<TAB>b` (see `read_rows`), unchanged.

    Rows of a group translate each other; without a group column, rows with the same source form a
    group.
    """
    rows = read_rows(path)
    sets = []
    for a, b in ((0, 1), (1, 0)):
        sources: dict[str, str] = {}  # text -> group
        references: dict[str, dict[str, None]] = {}  # group -> distinct targets, in order
        for row in rows:
            pair = row[-2:]
            group = row[0] if len(row) == 3 else pair[a]
            sources.setdefault(pair[a], group)
            references.setdefault(group, {})[pair[b]] = None
        grouped = tuple(tuple(references[group]) for group in sources.values())
        sets.append(TestSet(f"{languages[a]}-{languages[b]}", tuple(sources), grouped))
    return sets


def translate(
    adapter: Adapter, texts: Sequence[str], direction: str, decode: Decode, batch: int = 64
) -> list[str]:
    """Return translations in the order of `texts`; "" for one that is too long for the model."""
    requests = [Request(text, direction, decode=decode, select=()) for text in texts]
    readable = [row for row, request in enumerate(requests) if adapter.takes(request)]
    order = sorted(readable, key=lambda row: len(texts[row]))
    written = [""] * len(texts)
    for begin in range(0, len(order), batch):
        rows = order[begin : begin + batch]
        for row, trace in zip(rows, adapter.run([requests[row] for row in rows]), strict=True):
            written[row] = trace.output.text
    return written


def score(test: TestSet, hypotheses: Sequence[str]) -> Mapping[str, float | str]:
    """Return BLEU and chrF with their sacreBLEU signatures; Chinese uses the `zh` tokenizer."""
    width = max(map(len, test.references))
    columns = [[row[i] if i < len(row) else None for row in test.references] for i in range(width)]
    bleu = BLEU(tokenize="zh" if test.direction.endswith("zh") else "13a")
    chrf = CHRF()
    # None pads short reference lists; sacreBLEU accepts this, although its types do not say so.
    bleu_score = bleu.corpus_score(hypotheses, columns)  # type: ignore[arg-type]
    chrf_score = chrf.corpus_score(hypotheses, columns)  # type: ignore[arg-type]
    return {
        "bleu": round(bleu_score.score, 2),
        "bleu_signature": str(bleu.get_signature()),
        "chrf": round(chrf_score.score, 2),
        "chrf_signature": str(chrf.get_signature()),
        "sentences": len(hypotheses),
    }
