"""Writes the zoo's page of the documentation, `docs/zoo.md`, from the measurements."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from string import Template
from typing import Any

from model.bundle.measurements import ZOO
from model.bundle.model_card import markdown_table
from model.bundle.weights import digest_of
from model.zoo.measuring import CUTS
from model.zoo.training import SHIPPED, Recipe

PAGE = Path(__file__).parents[2] / "docs" / "zoo.md"
TEMPLATE = Path(__file__).with_name("page.template.md")
APART = 0.05  # if seeds differ by so much, the page shows their range
CLOSE = 0.1  # nats per token: a dev loss below it counts as learned
# Queries of the shown heads: the answer, *it*, the property; each for one sentence and for twins.
LOOKS = ("looks", "twins")
ASKED = (("decoder", LOOKS), ("encoder", LOOKS), ("encoder", ("instead", "instead twins")))

Results = Mapping[str, Any]


def read_results(recipes: Mapping[str, Recipe], zoo: Path = SHIPPED) -> dict[str, Results]:
    """Read the measurements, by name; a model that is not trained yet is left out.

    Raises `ValueError` if the measurements are of other weights than the bundle's.
    """
    results = {}
    for name in recipes:
        path = zoo / name / ZOO
        if path.is_file():
            results[name] = json.loads(path.read_text(encoding="utf-8"))
            if digest_of(zoo / name) not in [seed["digest"] for seed in results[name]["seeds"]]:
                raise ValueError(f"{path}: measured on other weights; run zoo measure {name} again")
    return results


def page(recipes: Mapping[str, Recipe], results: Mapping[str, Results]) -> str:
    """Return the page as Markdown. It numbers layers and heads from 1, as the web page does."""
    missing = [f"`{name}`" for name in recipes if name not in results]
    text = Template(TEMPLATE.read_text(encoding="utf-8"))
    return text.substitute(
        models=_models(recipes, results),
        lengths="\n\n".join(_lengths(recipes, results)),
        missing=f"Not trained yet: {', '.join(missing)}." if missing else "All are trained.",
        who=_who(results),
        cut=_cut(results),
        patched=_patched(results),
    )


def _models(recipes: Mapping[str, Recipe], results: Mapping[str, Results]) -> str:
    rows = [_model(recipes[name], result) for name, result in results.items()]
    head = ["model", "changed", "seeds", "parameters", "right", "learned at step"]
    return markdown_table([*head, "cross-attention", "encoder"], rows)


def _model(recipe: Recipe, result: Results) -> list[str]:
    seeds = result["seeds"]
    changed = ", ".join(f"{key} {value}" for key, value in result["changed"].items()) or "–"
    longest = str(recipe.trained[1])
    return [
        f"`{recipe.name}`",
        changed,
        str(len(seeds)),
        f"{seeds[0]['parameters']:,}",
        _percent([seed["accuracy"][longest] for seed in seeds]),
        _steps([learned(seed["curve"]) for seed in seeds]),
        _best_of(seeds, "decoder"),
        _best_of(seeds, "encoder"),
    ]


def learned(curve: Sequence[Sequence[float]]) -> int | None:
    """Return the step from which on the dev loss stays below `CLOSE`; None if it never does."""
    since = None
    for step, _, dev in curve:
        if dev >= CLOSE:
            since = None
        elif since is None:
            since = int(step)
    return since


def best(shares: Mapping[str, Sequence[float]], stack: str) -> tuple[float, str, int] | None:
    """Return the head of a stack that attends right most often: share, attention, 0-based head."""
    ranked = [
        (share, place, head)
        for place, heads in shares.items()
        if place.startswith(stack)
        for head, share in enumerate(heads)
    ]
    return max(ranked) if ranked else None


def _best_of(seeds: Sequence[Results], stack: str) -> str:
    """Format the shares of the seeds' best heads, and which head it is in the shipped model."""
    heads = [best_head for seed in seeds if (best_head := best(seed["looks"], stack))]
    if not heads:
        return "–"
    _, place, head = heads[0]
    return f"{_percent([share for share, *_ in heads])} {_named(place, head)}"


def _best(shares: Mapping[str, Sequence[float]], stack: str) -> str:
    best_head = best(shares, stack)
    return _head(*best_head) if best_head else "–"


def _head(share: float, place: str, head: int) -> str:
    return f"{share:.0%} {_named(place, head)}"


def _named(place: str, head: int) -> str:
    return f"(layer {int(place.split('.')[1]) + 1}, head {head + 1})"


def _percent(values: Sequence[float]) -> str:
    spread = f" ± {(max(values) - min(values)) * 50:.0f}" if len(values) > 1 else ""
    return f"{mean(values) * 100:.0f}{spread} %"


def _steps(values: Sequence[int | None]) -> str:
    return ", ".join("never" if value is None else f"{value:,}" for value in values)


def _lengths(recipes: Mapping[str, Recipe], results: Mapping[str, Results]) -> list[str]:
    """Return a table per task: a row per model, a column per length, untrained ones in italics."""
    tables = []
    for task in dict.fromkeys(result["task"] for result in results.values()):
        mine = {name: result for name, result in results.items() if result["task"] == task}
        first = recipes[next(iter(mine))]
        head = [
            f"{length}" if length <= first.trained[1] else f"*{length}*" for length in first.tested
        ]
        rows = [
            [f"`{name}`", *(_at(result, length) for length in first.tested)]
            for name, result in mine.items()
        ]
        tables.append(markdown_table([f"{task}: {first.task.unit}", *head], rows))
    return tables


def _at(result: Results, length: int) -> str:
    values = [seed["accuracy"].get(str(length)) for seed in result["seeds"]]
    numbers = [value for value in values if value is not None]
    if not numbers:
        return "–"
    low, high = min(numbers), max(numbers)
    spread = f" ({low * 100:.0f}–{high * 100:.0f})" if high - low >= APART else ""
    return f"{mean(numbers) * 100:.0f}{spread}"


def _who(results: Mapping[str, Results]) -> str:
    rows = []
    for name, result in results.items():
        for seed in result["seeds"] if result["task"] == "who" else ():
            heads = [_best(seed[kind], stack) for stack, kinds in ASKED for kind in kinds]
            rows.append([f"`{name}`", str(seed["seed"]), f"{seed['accuracy']['2']:.1%}", *heads])
    froms = ("answer", "*it*", "property")
    head = [
        text for query in froms for text in (f"from the {query}".replace("the *", "*"), "and moves")
    ]
    return (
        markdown_table(["model", "seed", "right", *head], rows)
        if rows
        else "It is not trained yet."
    )


def _cut(results: Mapping[str, Results]) -> str:
    """Return a table of right answers after each cut, one row per model and seed."""
    rows = [
        [f"`{name}`", str(seed["seed"]), *(f"{seed['cut'][cut]:.0%}" for cut in CUTS)]
        for name, seed in _who_seeds(results)
        if "cut" in seed
    ]
    return markdown_table(["model", "seed", *(f"*{name}*" for name in CUTS)], rows)


def _patched(results: Mapping[str, Results]) -> str:
    """Return a table of how often a patch changes the answer: all heads, and the best one."""
    rows = []
    for name, seed in _who_seeds(results):
        for place, (whole, *heads) in seed.get("patched", {}).items():
            stack, layer, _ = place.split(".")
            best_head = max(range(len(heads)), key=lambda head: heads[head])
            one_head = f"{heads[best_head]:.0%} (head {best_head + 1})"
            place_name = f"{stack}, layer {int(layer) + 1}"
            rows.append([f"`{name}`", str(seed["seed"]), place_name, f"{whole:.0%}", one_head])
    return markdown_table(["model", "seed", "attention", "all heads", "one head"], rows)


def _who_seeds(results: Mapping[str, Results]) -> list[tuple[str, Results]]:
    return [
        (name, seed)
        for name, result in results.items()
        for seed in (result["seeds"] if result["task"] == "who" else ())
    ]
