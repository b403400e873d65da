"""GET /api/qr."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.assets.qr import qr_code
from app.http.background_tasks import off_loop
from app.http.replies import problems

router = APIRouter(tags=["links"])

MEDIA_TYPE = "image/svg+xml"


@router.get(
    "/qr",
    summary="Make a QR code of a link",
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
    """Return the code as SVG, dark on white with a quiet zone.

    The link must be http or https, with at most 2000 bytes.
    """
    content = await off_loop(qr_code, text)
    headers = {"Cache-Control": "private, max-age=86400"}
    return Response(content, headers=headers, media_type=MEDIA_TYPE)
