"""Tasks of a worksheet, and how the numbers on them are rounded so that they add up by hand.

What is printed is all that is needed: a row of weights is rounded so that it adds up to 1, and the
weights of a softmax are computed from the scores as printed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.figures.heatmap import Heatmap

MAX_COLUMNS = 18  # of a matrix on A4 and Letter, upright
MAX_ROWS = 20
MAX_KEYS = 9  # of a softmax by hand; the others are one line
HUNDREDTHS = 100
LEAST = 0.05  # a blank below it could be guessed
LINES = 2  # to write on, below a question
NEGLIGIBLE = 0.01  # power beside the largest: it is one of the others
LARGEST = 3.0  # score on paper: its power is 20

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what is printed, and what the key has if it is blank."""

    text: str
    blank: bool = False


@dataclass(frozen=True)
class Table:
    """A table with the labels of its axes; without any, they are empty."""

    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    name: str = ""

    @property
    def blanks(self) -> bool:
        """Whether something in it is to be filled in."""
        return any(cell.blank for row in self.cells for cell in row)


@dataclass(frozen=True)
class Task:
    """What is asked. `kind` is the part of the template that words it."""

    kind: Literal["matrix", "softmax", "lab", "choose", "row", "write", "predict"]
    subject: str = ""  # the sentence, or what it is about
    written: str = ""  # the translation
    place: tuple[str, int, int] | None = None  # block, layer and head, from 1
    row: str = ""  # the label of the row that it is about
    tables: Sequence[Table] = ()
    question: str = ""  # HTML of a lesson, or text
    choices: Sequence[str] = ()
    answer: str = ""
    why: str = ""
    lines: int = 0
    height: int = 0  # on paper, about, in millimetres
    title: str = ""  # of the item that it begins
    again: bool = False  # whether its sentence stands above the task before it
    heads: int = 0  # of an example by hand; 0: it has one
    head: int = 0  # of these, from 1
    on: bool = field(default=True)  # printed unless the reader switches it off


def hundredths(weights: Floats) -> list[int]:
    """Return a row in hundredths that add up as the row does: the largest remainders round up."""
    scaled = np.asarray(weights, np.float64) * HUNDREDTHS
    whole = np.floor(scaled)
    missing = round(float(scaled.sum()) - float(whole.sum()))
    order = np.argsort(-(scaled - whole), kind="stable")
    whole[order[: max(0, missing)]] += 1
    return [int(value) for value in whole]


def decimal(hundredth: int) -> str:
    """Return hundredths with two decimals; nothing is 0."""
    return f"{hundredth / HUNDREDTHS:.2f}" if hundredth else "0"


def matrix_task(weights: Heatmap, seed: int, whole_row: int | None) -> Table | None:
    """Return the weights with a blank in some rows, and one row all blank; None if too large.

    A blank is the rest to 1 of its row. Which cells are blank depends on the seed.
    """
    rows, columns = weights.weights.shape
    if columns > MAX_COLUMNS or rows > MAX_ROWS:
        return None
    random = np.random.default_rng(seed)
    cells = []
    for index in range(rows):
        visible = np.broadcast_to(weights.mask, weights.weights.shape)[index]
        printed = hundredths(np.where(visible, weights.weights[index], 0))
        large = [n for n in range(columns) if printed[n] >= LEAST * HUNDREDTHS]
        certain = max(printed, default=0) == HUNDREDTHS  # 1, where there is nothing to compute
        blank = -1 if certain or not large else int(random.choice(large))
        cells.append(
            [
                Cell(
                    decimal(printed[n]) if visible[n] else "–",
                    bool(visible[n]) and (index == whole_row or n == blank),
                )
                for n in range(columns)
            ]
        )
    return Table(list(weights.rows), list(weights.columns), cells)


def softmax_table(scores: Floats, mask: NDArray[np.bool_], labels: Sequence[str]) -> Table:
    """Return the calculation of a row of weights: score, e to the score, weight.

    Keys that hardly count, and those beyond `MAX_KEYS`, are one line without a label, whose second
    number is printed. The same number is subtracted from all scores, which
    changes no weight, so that the powers are easy to write.
    """
    keys = [int(n) for n in np.flatnonzero(mask)]
    powers = np.exp(scores - max(scores[n] for n in keys))
    ranked = sorted(keys, key=lambda n: -scores[n])
    count = sum(powers[n] >= NEGLIGIBLE for n in keys)
    listed = sorted(ranked[: max(2, min(MAX_KEYS, count))])
    rest = [n for n in keys if n not in listed]
    shift = max(float(scores[n]) for n in keys) - LARGEST
    printed = {n: round(float(scores[n]) - shift, 2) + 0.0 for n in keys}
    written = {n: float(np.exp(printed[n])) for n in keys}
    total = sum(written.values())
    rows = [
        [
            Cell(f"{printed[n]:.2f}".replace("-", "−")),
            Cell(f"{written[n]:.2f}", blank=True),
            Cell(f"{written[n] / total:.2f}", blank=True),
        ]
        for n in listed
    ]
    names = [labels[n] for n in listed]
    if rest:
        sum_of_rest = sum(written[n] for n in rest)
        names.append("")
        rows.append(
            [Cell(""), Cell(f"{sum_of_rest:.2f}"), Cell(f"{sum_of_rest / total:.2f}", blank=True)]
        )
    names.append("Σ")
    rows.append([Cell(""), Cell(f"{total:.2f}", blank=True), Cell("1.00")])
    return Table(names, [], rows)


def number(value: float) -> str:
    """Return a number with at most two decimals, and a minus sign."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return ("0" if text in ("-0", "") else text).replace("-", "−")


def plain_table(
    name: str,
    values: Floats,
    rows: Sequence[str],
    blank_row: int | None = None,
    columns: Sequence[str] = (),
) -> Table:
    """Return a matrix; the cells of a row may be blank."""
    cells = [
        [Cell(number(value), index == blank_row) for value in row]
        for index, row in enumerate(values.tolist())
    ]
    return Table(rows, columns, cells, name)


PAGE = 235  # millimetres of A4 and Letter, upright, between their margins
PAGES = 2


def switched(tasks: Sequence[Task]) -> list[bool]:
    """Return which tasks are printed at first: those that fit on two pages, at least one."""
    used = 0
    on: list[bool] = []
    for task in tasks:
        fits = not on or used + task.height <= PAGE * PAGES
        used += task.height if fits else 0
        on.append(fits)
    return on
