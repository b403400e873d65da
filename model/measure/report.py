"""The report on a model's heads as Markdown."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

from model.bundle.markdown import table
from model.bundle.measurements import READS, REPORT, WRITES
from model.bundle.weights import digest_of
from model.measure.aligning_heads import LEAST
from model.measure.word_alignment import JOINED

PAGE = "REPORT.md"
IDLE = 0.01  # nats a token: a head whose loss costs less does nothing that is missed
BLOCKS = {"encoder.self": "Encoder", "decoder.self": "Decoder, self", "decoder.cross": "Cross"}


def write_page(bundle: Path) -> None:
    """Writes `REPORT.md` from `report.json`.

    Raises `ValueError` when the report is of other weights.
    """
    report = json.loads((bundle / REPORT).read_text(encoding="utf-8"))
    if report["digest"] != digest_of(bundle):
        raise ValueError(f"{bundle}: the report is of other weights; run measure heads again")
    (bundle / PAGE).write_text(page(report), encoding="utf-8")


def page(report: dict[str, Any]) -> str:
    """The whole page. Layers and heads count from 1 in it, as on the screen."""
    parts = ["# What its heads do", _about(report), *_idle(report)]
    for block, title in BLOCKS.items():
        parts += [f"## {title}", _table(report, block)]
    if report["alignment"]:
        parts += _alignment(report["alignment"])
    return "\n\n".join(parts) + "\n"


def _about(report: dict[str, Any]) -> str:
    return (
        f"Over {report['pairs']} pairs of the dev split, drawn with seed 0, both ways, the "
        f"translation given; digest `{report['digest'][:12]}…`. The model's loss on them is "
        f"{report['loss']:.3f} nats a token. Written by\n\n"
        "```sh\npython -m model measure heads --dev dev.tsv --align folder\n```\n\n"
        "- **entropy**: of a row, in nats, mean over rows that have a choice; **distance**: mean "
        "|query − key| in tokens; **pattern**: by the rules of "
        "[patterns](../../../docs/patterns.md) over all sentences at once; **special**: weight on "
        "tags, `<bos>` and `<eos>`.\n"
        "- **double**: the head of the same kind whose rows are nearest, by Jensen–Shannon "
        "divergence in nats (0: alike, ln 2 = 0.693: nothing in common; Clark et al. 2019, "
        "section 6).\n"
        "- **silent**, **usual**: what the loss rises by, in nats a token, when the head's mix is "
        "zeros, or what it is on average ([means](../../../docs/training.md#means)); Michel et al. "
        "2019, section 3."
    )


def _idle(report: dict[str, Any]) -> list[str]:
    heads = report["heads"]
    lines = []
    for name, word in (("zero", "silent"), ("mean", "saying what they say on average")):
        idle = [head for head in heads if head[name] < IDLE]
        by = Counter(_kind(head["attention"]) for head in idle)
        where = ", ".join(f"{by[block]} {title.lower()}" for block, title in BLOCKS.items())
        lines.append(f"- **{len(idle)} of {len(heads)}** when {word} ({where}).")
    return ["## Idle heads", f"Heads that cost less than {IDLE} nats a token:", "\n".join(lines)]


def _kind(attention: str) -> str:
    stack, _, block = attention.split(".")
    return f"{stack}.{block}"


def _name(attention: str, head: int) -> str:
    return f"{int(attention.split('.')[1]) + 1}.{head + 1}"


def _table(report: dict[str, Any], block: str) -> str:
    rows = [head for head in report["heads"] if _kind(head["attention"]) == block]
    far = rows[0]["distance"] is not None
    names = ["head", "pattern", "entropy", *(["distance"] if far else []), "special"]
    names += ["double", "divergence", "silent", "usual"]
    cells = []
    for head in rows:
        cells.append(
            [
                _name(head["attention"], head["head"]),
                head["pattern"],
                f"{head['entropy']:.2f}",
                *([f"{head['distance']:.1f}"] if far else []),
                f"{head['special']:.2f}",
                _name(*head["double"]),
                f"{head['divergence']:.3f}",
                f"{head['zero']:+.3f}",
                f"{head['mean']:+.3f}",
            ]
        )
    return table(names, cells)


def _alignment(found: dict[str, Any]) -> list[str]:
    half = found["pairs"] // 2
    rates: dict[str, list[str]] = {}  # by place, a column a direction and kind of rows
    columns = list(product(found["directions"], (WRITES, READS)))
    for direction, kind in columns:
        for one in found["directions"][direction]:
            if one["rows"] == kind:
                cell = f"{one['chosen on']:.1%} / {one['reported on']:.1%}"
                rates.setdefault(one["weights"], []).append(cell)
    rows = [[_place(weights), *cells] for weights, cells in rates.items()]
    return [
        "## Alignment",
        "Alignment error rate (Och & Ney 2003) of the source word that a written word looks at "
        f"most, against the {found['pairs']} hand-aligned pairs. Pieces of a word are added "
        "up where they are looked at and averaged where they "
        "write; special tokens are left out. *writes*: the decoder's row that writes a word "
        "(Garg et al. 2019); *reads*: the one after it, which reads it (Chen et al. "
        "2020). *both, joined*: the links of both directions as one, by grow-diag (Koehn et al. "
        f"2003). In a cell stand the first half of {half} pairs, by which what is best is chosen, "
        "and the other, by which it is reported. Pairs of more than the model's longest "
        f"input are left out: {' and '.join(map(str, found['used']))} of {half} are used.",
        table(["weights of", *map(", ".join, columns)], rows),
        "The best single heads, by the mean of the two directions:",
        "\n".join(
            f"- by its *{one['rows']}* rows layer {one['layer'] + 1}, head {one['head'] + 1}: "
            f"{one['chosen on']:.1%} on the first half, **{one['reported on']:.1%}** on the other, "
            f"**{_joined(found, one):.1%}** with both directions joined"
            for one in found["best"]
        ),
        "With links of less weight than a bound left out, which is chosen on the first half in "
        f"steps of {LEAST[1]} (a threshold, as in Dou & Neubig 2021), on the other half:",
        "\n".join(
            f"- layer {one['layer'] + 1}, head {one['head'] + 1}, *{one['rows']}*, at least "
            f"{one['firm']['least']}: "
            + ", ".join(f"{way} **{rate:.1%}**" for way, rate in one["firm"]["reported on"].items())
            for one in found["best"]
        ),
        "The [alignment](../../../docs/views/alignment.md) view opens on the first of them, all "
        "others on the one that aligns while it *writes*.",
    ]


def _joined(found: dict[str, Any], best: dict[str, Any]) -> float:
    weights = f"{best['layer']}.{best['head']}"
    [rate] = [
        float(one["reported on"])
        for one in found["directions"][JOINED]
        if (one["weights"], one["rows"]) == (weights, best["rows"])
    ]
    return rate


def _place(weights: str) -> str:
    if weights == "all":
        return "all heads, mean"
    layer, *head = (int(part) + 1 for part in weights.split("."))
    return f"layer {layer}, head {head[0]}" if head else f"layer {layer}, mean"
