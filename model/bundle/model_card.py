"""The model card in Markdown: what a bundle is, its training data, and its quality."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from model.bundle.weights import CARD, CONFIG, TRAINING, digest_of


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a header, a rule and the rows; cells are not escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


TEMPLATE = "card.template.md"  # in the bundle: the text that is written by hand


def write_card(bundle: Path) -> None:
    """Write the card into the bundle."""
    (bundle / CARD).write_text(card(bundle), encoding="utf-8")


def card(bundle: Path) -> str:
    """Return the bundle's template, filled with its figures.

    Raises `ValueError` if the figures were measured on other weights, or if the template uses
    an unknown name.
    """
    figures = json.loads((bundle / "figures.json").read_text(encoding="utf-8"))
    digest = digest_of(bundle)
    if figures["digest"] != digest:
        raise ValueError(f"{bundle}: the figures were measured on other weights; measure again")
    config = json.loads((bundle / CONFIG).read_text(encoding="utf-8"))["config"]
    training = json.loads((bundle / TRAINING).read_text(encoding="utf-8"))
    template = Template((bundle / TEMPLATE).read_text(encoding="utf-8"))
    values = {
        "digest": digest,
        **config,
        "scores": _scores(figures["scores"]),
        "signatures": _signatures(figures["scores"]),
        "sentences": _sentences(figures["sentences"]),
        "typed": _typed(figures["typed"]),
        "gate": gate_table(figures.get("gate", [])),
        "curve": _curve(training["history"]),
        "steps": f"{training['step']:,}",
        "final": training["step"],
        "tokens": f"{training['tokens'] / 1e6:.1f}",
        "hours": f"{training['seconds'] / 3600:.1f}",
    }
    if not template.is_valid():
        raise ValueError(f"{bundle / TEMPLATE}: a $ without a name; write $$ for a dollar sign")
    if unknown := sorted(set(template.get_identifiers()) - values.keys()):
        raise ValueError(
            f"{bundle / TEMPLATE}: ${unknown[0]} is not one of ${', $'.join(sorted(values))}"
        )
    return template.substitute(values)


def _scores(scores: list[dict[str, Any]]) -> str:
    rows = [
        [
            row["set"],
            row["direction"],
            row["method"],
            str(row["sentences"]),
            f"{row['bleu']:.2f}",
            f"{row['chrf']:.2f}",
        ]
        for row in scores
    ]
    return markdown_table(["test set", "direction", "decoding", "sources", "BLEU", "chrF"], rows)


def _signatures(scores: list[dict[str, Any]]) -> str:
    signatures = {row[key]: None for key in ("bleu_signature", "chrf_signature") for row in scores}
    return "\n".join(f"- `{signature}`" for signature in signatures)


def _sentences(sentences: list[dict[str, str]]) -> str:
    rows = [
        [row["source"], row["greedy"], row["beam"] if row["beam"] != row["greedy"] else "the same"]
        for row in sentences
    ]
    return markdown_table(["source", "greedy, as on the page", "beam"], rows)


def _typed(rows: list[dict[str, Any]]) -> str:
    lines = [
        [
            row["kind"].replace("_", " "),
            row["direction"],
            str(row["sentences"]),
            f"{row['plain']:.1f}",
            f"{row['typed']:.1f}",
        ]
        for row in rows
        if row["sentences"]
    ]
    return markdown_table(
        ["as typed", "direction", "sentences", "BLEU before", "BLEU as typed"], lines
    )


def gate_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the share of sentences translated correctly, by kind and direction."""
    directions = sorted({row["direction"] for row in rows})
    kinds = [*dict.fromkeys(row["kind"] for row in rows)]
    lines = []
    for kind in [*kinds, "all"]:
        mine = [row for row in rows if kind in (row["kind"], "all")]
        parts = [[row for row in mine if row["direction"] == d] for d in directions]
        lines.append([kind, *map(_right, parts), _right(mine)])
    return markdown_table(["kind", *directions, "all"], lines)


def _right(rows: Sequence[Mapping[str, Any]]) -> str:
    count = sum(row["sentences"] for row in rows)
    right = sum(row["right"] for row in rows)
    return f"{right / count:.0%} ({right}/{count})" if count else ""


def _curve(history: list[dict[str, float]]) -> str:
    points = history[:: max(1, len(history) // 10)]
    if history[-1] not in points:
        points.append(history[-1])
    rows = [[f"{row['step']:,}", f"{row['train']:.3f}", f"{row['dev']:.3f}"] for row in points]
    return markdown_table(["step", "train loss (smoothed)", "dev loss"], rows)
