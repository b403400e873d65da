"""The model card in Markdown: what a bundle is, its training data, and its quality."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from model.bundle.measurements import CERTAINTY
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
        "certainty": _certainty(bundle / CERTAINTY, digest),
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


def _certainty(path: Path, digest: str) -> str:
    """Return what marking doubtful words and texts is worth; empty if it was not measured."""
    if not path.is_file():
        return ""
    measured = json.loads(path.read_text(encoding="utf-8"))
    if measured["digest"] != digest:
        raise ValueError(f"{path}: measured on other weights; run measure certainty again")
    marks = ("wrong", "marked", "precision", "recall")
    names = ["set", "direction", "number", *marks]
    tables = []
    for kind in ("words", "texts"):
        rows = [[row["set"], row["direction"], *_marked(row[kind])] for row in measured["sets"]]
        tables.append(markdown_table(names, [*rows, ["all", "", *_marked(measured[kind])]]))
    curve = markdown_table(
        ["threshold", *marks[1:]],
        [[f"{row['threshold']:.1f}", *_marked(row)[2:]] for row in measured["curve"]],
    )
    words, texts, plain = measured["words"], measured["texts"], measured["plain"]
    next_token = measured["calibration"]
    return "\n\n".join(
        [
            f"A word is doubtful up to a certainty of {measured['word']:.3f}: of the doubtful ones "
            f"{words['precision']:.1%} are wrong, of the wrong ones {words['recall']:.1%} are "
            "doubtful.",
            tables[0],
            "The same at other thresholds:",
            curve,
            f"By the word's probability alone, up to {plain['threshold']:.3f}, "
            f"{plain['precision']:.1%} and {plain['recall']:.1%}.",
            f"A text is improbable up to a mean probability of {measured['text']:.3f}: of the "
            f"improbable ones {texts['precision']:.1%} are wrong, of the wrong ones "
            f"{texts['recall']:.1%} are improbable.",
            tables[1],
            *_on_gate(measured.get("gate")),
            f"The next token, given the reference so far ({next_token['tokens']:,} tokens), is "
            f"predicted correctly in {next_token['right']:.1%}; the expected calibration error is "
            f"{next_token['error']:.3f}, and {next_token['error_at_temperature']:.3f} at the "
            f"temperature that minimises it, {next_token['temperature']:.2f}.",
            *_untranslated(measured),
            *_nonsense(measured),
        ]
    )


def _on_gate(gate: Mapping[str, int] | None) -> list[str]:
    if gate is None:
        return []
    return [
        f"Of what people type first, {gate['right_unmarked']} of {gate['right']} correct "
        f"translations have no doubtful word, and {gate['wrong_marked']} of {gate['wrong']} "
        "incorrect ones have one; none of these sentences was used to choose a threshold."
    ]


def _untranslated(measured: Mapping[str, Any]) -> list[str]:
    """Return what naming source words as not translated is worth; nothing if not measured."""
    if not (found := measured.get("untranslated")):
        return []
    marks = ("wrong", "marked", "precision", "recall")
    head, words, source = measured["aligner"], found["words"], measured["source"]
    rows = [[row["set"], row["direction"], *_marked(row)] for row in found["sets"]]
    return [
        f"A source word is passed over if no row that {head['rows']} a written token has a weight "
        f"of {source:.2f} on it, by head {head['head'] + 1} of layer {head['layer'] + 1}: of the "
        f"words that the page then names {words['precision']:.1%} are not translated, of those "
        f"that are not translated {words['recall']:.1%} are named. *Wrong* is the share that is "
        "not translated, of the words that are linked to a word of a reference "
        f"({found['sentences']:,} sentences):"
        if source
        else "No weight names source words that were not translated with enough precision.",
        markdown_table(
            ["set", "direction", "number", *marks], [*rows, ["all", "", *_marked(words)]]
        ),
        *(
            [
                f"Of what people type first, {gate['right_named']} of {gate['right']} correct "
                "translations name a word."
            ]
            if (gate := found.get("gate"))
            else []
        ),
        "The same at other weights:",
        markdown_table(
            ["weight", *marks[1:]],
            [[f"{row['threshold']:.2f}", *_marked(row)[2:]] for row in found["curve"]],
        ),
    ]


def _nonsense(measured: Mapping[str, Any]) -> list[str]:
    """Return how well texts unlike the training data are found; nothing if not measured."""
    if not (rows := measured.get("nonsense")):
        return []
    finds = ("unlike", "improbable", "either")
    limits = ", ".join(f"{limit:.1%} ({way})" for way, limit in measured["unlike"].items())
    return [
        "A text is unlike the training data if the tokenizer cuts more of the places within its "
        f"words than {limits}. The share of dev sentences, and of nonsense made of their letters, "
        "that is found so, by an improbable translation, and by either:",
        markdown_table(
            ["set", "direction", "text", "number", *finds],
            [
                [row["set"], row["direction"], kind, f"{row[kind]['count']:,}"]
                + [f"{row[kind][find]:.1%}" for find in finds]
                for row in rows
                for kind in ("dev", "nonsense")
            ],
        ),
    ]


def _marked(row: Mapping[str, Any]) -> list[str]:
    shares = (row[name] for name in ("wrong", "marked", "precision", "recall"))
    return [f"{row['count']:,}", *(f"{share:.1%}" for share in shares)]


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
