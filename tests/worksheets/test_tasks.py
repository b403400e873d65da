"""Numbers on a worksheet: rounded so that they add up, and a softmax that a pupil can compute."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.figures.heatmap import Heatmap
from app.worksheets.tasks import (
    MAX_COLUMNS,
    MAX_KEYS,
    PAGE,
    Task,
    hundredths,
    matrix_task,
    softmax_table,
    switched,
)


def weights(rows: int, columns: int, seed: int) -> Heatmap:
    scores = np.random.default_rng(seed).normal(size=(rows, columns)) * 3
    powers = np.exp(scores)
    values = powers / powers.sum(-1, keepdims=True)
    labels = [f"w{n}" for n in range(max(rows, columns))]
    return Heatmap(values, np.ones((rows, columns), bool), labels[:rows], labels[:columns])


@given(st.integers(1, 18), st.integers(0, 9999))
def test_a_row_adds_up_to_1_and_no_number_moves_by_a_hundredth(columns: int, seed: int) -> None:
    row = weights(1, columns, seed).weights[0]
    printed = hundredths(row)
    assert sum(printed) == 100
    assert all(abs(whole - 100 * value) < 1 for whole, value in zip(printed, row, strict=True))


@given(st.integers(2, 8), st.integers(2, 10), st.integers(0, 9999))
def test_every_blank_is_the_rest_to_1(rows: int, columns: int, seed: int) -> None:
    table = matrix_task(weights(rows, columns, seed), seed, whole_row=1)
    assert table is not None
    for index, row in enumerate(table.cells):
        blanks = [cell for cell in row if cell.blank]
        assert len(blanks) == columns if index == 1 else len(blanks) <= 1
        rest = 1 - sum(float(cell.text) for cell in row if not cell.blank)
        assert abs(rest - sum(float(cell.text) for cell in blanks)) < 1e-9


def test_other_seeds_have_other_blanks_and_large_matrices_none() -> None:
    heatmap = weights(8, 8, 0)
    assert len({str(matrix_task(heatmap, seed, None)) for seed in range(5)}) > 1
    assert matrix_task(weights(3, MAX_COLUMNS + 1, 0), 0, None) is None


def test_masked_cells_are_dashes_and_never_blank() -> None:
    full = weights(4, 4, 0)
    heatmap = Heatmap(full.weights, np.tri(4, dtype=bool), full.rows, full.columns)
    table = matrix_task(heatmap, 0, 2)
    assert table is not None
    for index, row in enumerate(table.cells):
        for cell in row[index + 1 :]:
            assert (cell.text, cell.blank) == ("–", False)


@given(st.integers(2, 30), st.integers(0, 9999))
def test_the_softmax_is_what_one_computes_from_the_printed_scores(keys: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=keys) * 4
    mask = np.ones(keys, bool)
    mask[0] = False
    table = softmax_table(scores, mask, [f"w{n}" for n in range(keys)])
    assert len(table.rows) <= MAX_KEYS + 2
    assert "w0" not in table.rows
    exact = np.exp(scores[1:]) / np.exp(scores[1:]).sum()
    largest = max(float(row[2].text) for row in table.cells[:-1])
    assert abs(largest - max(exact.max(), largest if table.rows[-2] == "" else 0)) < 0.02
    total = sum(float(row[1].text) for row in table.cells[:-1])
    assert abs(total - float(table.cells[-1][1].text)) < 0.01 * len(table.rows)
    for row in table.cells[:-1]:
        if row[0].text:
            power = np.exp(float(row[0].text.replace("−", "-")))
            assert abs(power - float(row[1].text)) < 0.006
            assert row[1].blank
            assert row[2].blank


def test_as_many_tasks_are_printed_as_fit_on_two_pages() -> None:
    tasks = [Task("write", height=height) for height in (PAGE, PAGE, 1)]
    assert switched(tasks) == [True, True, False]
    assert switched([Task("write", height=9 * PAGE)]) == [True]
