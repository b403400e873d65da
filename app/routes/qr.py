"""GET /api/qr."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.assets.qr import qr_code
from app.http.replies import problems
from app.off_loop import off_loop

router = APIRouter(tags=["links"])

MEDIA_TYPE = "image/svg+xml"


@router.get(
    "/qr",
    summary="A link as a QR code",
    response_class=Response,
    responses={
        200: {
            "description": "The QR code.",
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        },
        **problems(_422="Not a link, or too long."),
    },
)
async def qr(
    text: Annotated[str, Query(description="The link.", examples=["https://example.org/s/1"])],
) -> Response:
    """SVG, dark on white with its quiet zone; http or https, at most 2000 bytes."""
    content = await off_loop(qr_code, text)
    headers = {"Cache-Control": "private, max-age=86400"}
    return Response(content, headers=headers, media_type=MEDIA_TYPE)
