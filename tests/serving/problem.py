"""Checks of replies to bad input."""

from typing import Any

import httpx

from app.http.problems import MEDIA_TYPE, URN

JSON = {"Content-Type": "application/json"}
OPTIONS_33 = {f"option_{'a' * (n // 26)}{chr(97 + n % 26)}": "1" for n in range(33)}


def hold(
    response: httpx.Response, status: int, kind: str, field: str | None = None
) -> dict[str, Any]:
    """Check that the reply is this problem; return the document."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == MEDIA_TYPE
    problem: dict[str, Any] = response.json()
    assert problem["type"] == URN + kind
    assert problem["status"] == status
    assert problem.get("field") == field
    assert problem["title"]
    assert (field or "") in problem["detail"]
    return problem
