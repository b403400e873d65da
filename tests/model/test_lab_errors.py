"""Errors of the lab name the field, the number and the limit."""

import math
from dataclasses import replace
from typing import Any

import pytest

from model.errors import InputError
from model.lab.compute import compute
from model.lab.lab_request import Relative
from tests.model.lab_numbers import IDENTITY, SIMPLE

MEMORY = [[1.0, 2.0], [3.0, 4.0]]
WRONG: list[tuple[dict[str, Any], str, str, str]] = [
    # request, kind, field, detail
    ({"x": []}, "too-short", "x", "x has no rows; it must have at least 1"),
    ({"x": [[]]}, "too-short", "x[0]", r"x\[0\] \(row 1\) has no numbers"),
    ({"x": 3}, "wrong-type", "x", "x must be a list of rows"),
    ({"x": ["abc"]}, "wrong-type", "x[0]", r"\(row 1\) must be a list of numbers"),
    ({"x": [[1.0]] * 65}, "too-long", "x", "x may have at most 64 rows, not 65"),
    ({"w_v": [[1.0] * 65] * 3}, "too-long", "w_v[0]", "may have at most 64 numbers, not 65"),
    ({"w_q": [[1.0, 2.0], [3.0]]}, "ragged", "w_q[1]", r"\(row 2\) has 1 number, row 1 has 2"),
    ({"w_q": [[1.0, "a"]]}, "wrong-type", "w_q[0][1]", r"\(row 1, column 2\) .* not text"),
    ({"w_q": [[1.0, True]]}, "wrong-type", "w_q[0][1]", "not true or false"),
    ({"w_q": [[None]]}, "wrong-type", "w_q[0][0]", "not nothing"),
    ({"w_k": [[math.nan]]}, "not-finite", "w_k[0][0]", "row 1, column 1.* not nan"),
    ({"w_k": [[1.0], [-math.inf]]}, "not-finite", "w_k[1][0]", "row 2, column 1.* not -inf"),
    ({"w_k": [[2e6]]}, "out-of-range", "w_k[0][0]", "from -1000000 to 1000000, not 2e\\+06"),
    ({"w_k": [[10**400]]}, "out-of-range", "w_k[0][0]", "not one of more than 300 digits"),
    ({"b_q": [1.0, math.nan]}, "not-finite", "b_q[1]", r"\(column 2\) must be a finite number"),
    ({"w_q": MEMORY}, "does-not-fit", "w_q", "w_q has 2 rows, but x has 3 columns"),
    ({"memory": MEMORY}, "does-not-fit", "w_k", "w_k has 3 rows, but memory has 2 columns"),
    ({"w_k": [[1.0]] * 3}, "does-not-fit", "w_k", "w_k has 1 column, but w_q has 3 columns"),
    ({"heads": 2}, "does-not-fit", "heads", "3 columns, which 2 heads cannot share"),
    ({"w_o": MEMORY}, "does-not-fit", "w_o", "w_o has 2 rows, but w_v has 3 columns"),
    ({"b_o": [1.0]}, "missing", "w_o", "b_o needs w_o"),
    ({"b_k": [1.0]}, "does-not-fit", "b_k", "b_k has 1 number; w_k needs 3"),
    ({"scoring": "additive"}, "missing", "w", "additive scoring needs w"),
    ({"scoring": "additive", "w": [1.0]}, "does-not-fit", "w", "w has 1 number, not 3"),
    ({"w": [1.0]}, "does-not-fit", "w", "w belongs to additive scoring, not to scaled"),
    ({"mask": "window"}, "missing", "window", "mask window needs window"),
    ({"padding": [False]}, "does-not-fit", "padding", "padding has 1 number; .* needs 3"),
    ({"padding": [0, 0, 0]}, "wrong-type", "padding[0]", "must be true or false"),
    ({"relative": Relative()}, "missing", "relative", "one of add and multiply"),
    ({"relative": Relative(add={"x": 1.0})}, "out-of-range", "relative.add", "whole number from"),
    ({"relative": Relative(add={"1" * 5000: 1.0})}, "out-of-range", "relative.add", "63"),
    ({"relative": Relative(multiply={"64": 1.0})}, "out-of-range", "relative.multiply", "63"),
    ({"relative": Relative(add={"1": math.inf})}, "not-finite", "relative.add", "offset 1"),
    ({"w_o": [[1.0]] * 3, "residual": True}, "does-not-fit", "residual", "1 features to the 3"),
    ({"gamma": [1.0] * 3}, "missing", "norm", "gamma needs norm"),
    ({"norm": "post", "beta": [1.0]}, "does-not-fit", "beta", "beta has 1 number"),
    ({"norm": "pre", "x": [[2.0] * 3], "epsilon": 0.0}, "not-finite", "epsilon", "above 0: norm"),
    ({"w_1": IDENTITY}, "missing", "w_2", "w_1 needs w_2"),
    ({"b_2": [1.0]}, "missing", "w_2", "b_2 needs w_2"),
    ({"w_1": MEMORY, "w_2": MEMORY}, "does-not-fit", "w_1", "w_1 has 2 rows; it multiplies 3"),
    ({"w_1": IDENTITY, "w_2": MEMORY}, "does-not-fit", "w_2", "w_2 has 2 rows, but w_1 has 3"),
    ({"w_1": IDENTITY, "w_2": [[1.0]] * 3, "residual": True}, "does-not-fit", "w_2", "added to 3"),
    ({"w_vocab": MEMORY}, "does-not-fit", "w_vocab", "w_vocab has 2 rows; .* 3 features"),
    ({"targets": [0, 1, 2]}, "missing", "w_vocab", "targets needs w_vocab"),
    ({"targets": [0], "w_vocab": IDENTITY}, "does-not-fit", "targets", "targets has 1 number"),
    ({"targets": [0, 1.0, 0], "w_vocab": IDENTITY}, "wrong-type", "targets[1]", "whole number"),
    ({"targets": [0, 3, 0], "w_vocab": IDENTITY}, "out-of-range", "targets[1]", "from 0 to 2"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "kind", "field", "detail"), WRONG)
def test_errors_name_the_field(changes: dict[str, Any], kind: str, field: str, detail: str) -> None:
    with pytest.raises(InputError, match=detail) as caught:
        compute(replace(SIMPLE, **changes))
    assert (caught.value.kind, caught.value.field) == (kind, field)
    assert field in caught.value.detail


def test_what_is_wrong_is_named_in_the_convention() -> None:
    with pytest.raises(InputError, match="w_q has 2 columns, but x has 3 rows"):
        compute(replace(SIMPLE, w_q=MEMORY, convention="column"))
    one = replace(SIMPLE, x=[[1.0, 0.0, 0.0]], w_vocab=IDENTITY, targets=[0])
    with pytest.raises(InputError, match="shifted targets need at least 2"):
        compute(one)
