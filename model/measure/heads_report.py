"""The report on a model's heads as Markdown."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

from model.bundle.measurements import READS, REPORT, WRITES
from model.bundle.model_card import markdown_table
from model.bundle.weights import digest_of
from model.measure.word_alignment import JOINED, LEAST

PAGE = "REPORT.md"
IDLE = 0.01  # nats per token: a head is idle if ablating it raises the loss by less
NAMED = 0.6  # a head has a name if the rules give it in this share of sentences
BLOCKS = {"encoder.self": "Encoder", "decoder.self": "Decoder, self", "decoder.cross": "Cross"}


def write_page(bundle: Path) -> None:
    """Write `REPORT.md` from `report.json`.

    Raises `ValueError` if the report is for other weights.
    """
    report = json.loads((bundle / REPORT).read_text(encoding="utf-8"))
    if report["digest"] != digest_of(bundle):
        raise ValueError(f"{bundle}: the report is for other weights; run measure heads again")
    (bundle / PAGE).write_text(page(report), encoding="utf-8")


def page(report: dict[str, Any]) -> str:
    """Return the whole page. It numbers layers and heads from 1, as the web page does."""
    parts = ["# What its heads do", _about(report), *_idle(report), *_named(report)]
    for block, title in BLOCKS.items():
        parts += [f"## {title}", _table(report, block)]
    if report["alignment"]:
        parts += _alignment(report["alignment"])
    if "sources" in report:
        parts += _sources(report["sources"])
    return "\n\n".join(parts) + "\n"


def _about(report: dict[str, Any]) -> str:
    return (
        f"Over {report['pairs']} pairs of the dev split, drawn with seed 0, in both directions, "
        f"with the translation given; digest `{report['digest'][:12]}…`. The model's loss on them "
        f"is {report['loss']:.3f} nats per token. Written by\n\n"
        "```sh\npython -m model measure heads --dev dev.tsv --align folder\n```\n\n"
        "- **entropy**: mean entropy of the rows that have a choice, in nats; **distance**: mean "
        "|query − key| in tokens; **pattern**: by the rules of "
        "[patterns](../../../docs/patterns.md) over all sentences at once; **usual**: the pattern "
        "that it has in most sentences by itself, and in how many; **special**: weight on "
        "tags, `<bos>` and `<eos>`.\n"
        "- **nearest**: the most similar head of the same kind, by the Jensen–Shannon "
        "**divergence** of their rows in nats (0: identical, ln 2 = 0.693: disjoint; Clark et al. "
        "2019, section 6).\n"
        "- **zero**, **mean**: by how much the loss rises, in nats per token, when the head's mix "
        "is replaced by zeros or by its [mean](../../../docs/training.md#means); Michel et al. "
        "2019, section 3."
    )


def _idle(report: dict[str, Any]) -> list[str]:
    heads = report["heads"]
    lines = []
    for name, word in (("zero", "zeroed"), ("mean", "replaced by their mean")):
        idle = [head for head in heads if head[name] < IDLE]
        by = Counter(_kind(head["attention"]) for head in idle)
        counts = ", ".join(f"{by[block]} {title.lower()}" for block, title in BLOCKS.items())
        lines.append(f"- **{len(idle)} of {len(heads)}** when {word} ({counts}).")
    return [
        "## Idle heads",
        f"Heads whose ablation raises the loss by less than {IDLE} nats per token:",
        "\n".join(lines),
    ]


def _named(report: dict[str, Any]) -> list[str]:
    counts = []
    for block, title in BLOCKS.items():
        shares = [head["usual"][1] for head in report["heads"] if _kind(head["attention"]) == block]
        counts.append(f"{sum(s >= NAMED for s in shares)} of {len(shares)} {title.lower()}")
    return [
        "## Heads with a name",
        f"Heads that have the same pattern in at least {NAMED:.0%} of the sentences: "
        f"{', '.join(counts)}.",
    ]


def _kind(attention: str) -> str:
    stack, _, block = attention.split(".")
    return f"{stack}.{block}"


def _name(attention: str, head: int) -> str:
    return f"{int(attention.split('.')[1]) + 1}.{head + 1}"


def _table(report: dict[str, Any], block: str) -> str:
    rows = [head for head in report["heads"] if _kind(head["attention"]) == block]
    far = rows[0]["distance"] is not None
    names = ["head", "pattern", "usual", "entropy", *(["distance"] if far else []), "special"]
    names += ["nearest", "divergence", "zero", "mean"]
    cells = []
    for head in rows:
        cells.append(
            [
                _name(head["attention"], head["head"]),
                head["pattern"],
                "{} {:.0%}".format(*head["usual"]) if head["usual"][1] else "–",
                f"{head['entropy']:.2f}",
                *([f"{head['distance']:.1f}"] if far else []),
                f"{head['special']:.2f}",
                _name(*head["double"]),
                f"{head['divergence']:.3f}",
                f"{head['zero']:+.3f}",
                f"{head['mean']:+.3f}",
            ]
        )
    return markdown_table(names, cells)


def _alignment(alignment: dict[str, Any]) -> list[str]:
    half = alignment["pairs"] // 2
    rates: dict[str, list[str]] = {}  # by place: one column per direction and kind of rows
    columns = list(product(alignment["directions"], (WRITES, READS)))
    for direction, kind in columns:
        for one in alignment["directions"][direction]:
            if one["rows"] == kind:
                cell = f"{one['chosen on']:.1%} / {one['reported on']:.1%}"
                rates.setdefault(one["weights"], []).append(cell)
    rows = [[_place(weights), *cells] for weights, cells in rates.items()]
    return [
        "## Alignment",
        "Alignment error rate (Och & Ney 2003) when each written word is aligned to the source "
        f"word with the most weight, against the {alignment['pairs']} hand-aligned pairs. Weights "
        "on the pieces of a source word are summed, rows of a written word's pieces are averaged; "
        "special tokens are left out. *writes*: the decoder row that writes a word "
        "(Garg et al. 2019); *reads*: the next row, which reads it (Chen et al. "
        "2020). *both, joined*: the links of both directions combined by grow-diag (Koehn et al. "
        f"2003). Each cell has the rate on the first half of {half} pairs, which is used to choose "
        "the best head, and on the second half, which is reported. Pairs longer than the model's "
        f"input are left out: {' and '.join(map(str, alignment['used']))} of {half} are used.",
        markdown_table(["weights of", *map(", ".join, columns)], rows),
        "The best single heads, by the mean of the two directions:",
        "\n".join(
            f"- by its *{head['rows']}* rows, layer {head['layer'] + 1}, head {head['head'] + 1}: "
            f"{head['chosen on']:.1%} on the first half, **{head['reported on']:.1%}** on the "
            f"second, **{_joined(alignment, head):.1%}** with both directions joined"
            for head in alignment["best"]
        ),
        "On the second half, without links below a threshold that is chosen on the first half in "
        f"steps of {LEAST[1]} (as in Dou & Neubig 2021):",
        "\n".join(
            f"- layer {head['layer'] + 1}, head {head['head'] + 1}, *{head['rows']}*, at least "
            f"{head['firm']['least']}: "
            + ", ".join(
                f"{way} **{rate:.1%}**" for way, rate in head["firm"]["reported on"].items()
            )
            for head in alignment["best"]
        ),
        "The [alignment](../../../docs/views/alignment.md) view opens on the first of these heads, "
        "all other views on the one for the *writes* rows.",
    ]


def _sources(sources: dict[str, Any]) -> list[str]:
    ways = list(next(iter(sources["methods"].values())))
    heads = list(next(iter(sources["agreement"].values())))
    rates = [[name, *(f"{by[way]:.1%}" for way in ways)] for name, by in sources["methods"].items()]
    taus = [
        [name, *(f"{by[head]:+.2f}" for head in heads)] for name, by in sources["agreement"].items()
    ]
    return [
        "## Which source words made a word",
        "The same error rate when each written word is aligned to the source word that raises its "
        "log-probability most, by three "
        "[attributions](../../../docs/inside.md#which-source-words-made-this-word), beside the "
        f"heads above, on {sources['used']} of the {sources['half']} pairs of the second half: "
        "those whose texts are short enough for integrated gradients.",
        markdown_table(["aligned by", *ways], rates),
        "Agreement of each attribution with the heads: Kendall's τ_b of a written word's values "
        "over the source words, mean over the words of both directions.",
        markdown_table(["", *heads], taus),
    ]


def _joined(alignment: dict[str, Any], best: dict[str, Any]) -> float:
    weights = f"{best['layer']}.{best['head']}"
    [rate] = [
        float(rate["reported on"])
        for rate in alignment["directions"][JOINED]
        if (rate["weights"], rate["rows"]) == (weights, best["rows"])
    ]
    return rate


def _place(weights: str) -> str:
    if weights == "all":
        return "all heads, mean"
    layer, *head = (int(part) + 1 for part in weights.split("."))
    return f"layer {layer}, head {head[0]}" if head else f"layer {layer}, mean"
