"""Tables as CSV files that a spreadsheet opens: readable Chinese, and no cell that is a formula."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

from fastapi import Response

CSV = "text/csv"
# A reply with a table, for the API reference.
TABLE: dict[int | str, dict[str, Any]] = {
    200: {"description": "A table.", "content": {CSV: {"schema": {"type": "string"}}}}
}
MARK = "\ufeff"  # Excel misreads Chinese without a byte order mark
# A spreadsheet interprets a cell that begins like this as a formula.
FORMULA = "=+-@\t\r\n＝＋－＠"
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]+)?|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)


def csv_of(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV. No cell is a formula."""
    file = io.StringIO()
    file.write(MARK)
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return file.getvalue()


def csv_reply(content: str, name: str) -> Response:
    """Return a table as a file to save."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(content, headers=headers, media_type=CSV)


def _safe(cell: object) -> object:
    """Return a cell that a spreadsheet shows as text instead of running it as a formula."""
    if not isinstance(cell, str) or all(map(NUMBER.fullmatch, cell.split(" "))):
        return cell
    return f"'{cell}" if cell.startswith(tuple(FORMULA)) else cell
