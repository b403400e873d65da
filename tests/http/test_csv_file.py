"""Tables of answers, as spreadsheets read them."""

import csv
import io

import pytest

from app.http.replies import csv_of


def cell(text: str) -> str:
    table = csv_of(["answer"], [[text]]).encode()
    assert table.startswith(b"\xef\xbb\xbf")  # Excel reads UTF-8 only with it
    return list(csv.reader(io.StringIO(table.decode("utf-8-sig"), newline="")))[1][0]


@pytest.mark.parametrize("text", ["我喜欢喝茶。", "-0.5", "+1", "-0.5 1e-3 -.25", "0.5", "a=b", ""])
def test_words_and_numbers_are_kept(text: str) -> None:
    assert cell(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1+cmd|'/c calc'!A0",
        "-1-1",
        "-2 =A1",
        "@SUM(1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "＝1",
        "-",
    ],
)
def test_no_cell_is_a_formula(text: str) -> None:
    assert cell(text) == f"'{text}"
