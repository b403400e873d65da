"""Replies with a QTI package."""

from typing import Any

from fastapi import Response

ZIP = "application/zip"
# For the API reference.
QTI_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A QTI 2.1 package.",
        "content": {ZIP: {"schema": {"type": "string", "format": "binary"}}},
    }
}


def qti_reply(content: bytes, name: str) -> Response:
    """Return a package as a download that is not kept: it has the right answers."""
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="questions-{name}.zip"',
    }
    return Response(content, headers=headers, media_type=ZIP)
