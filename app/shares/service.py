"""Replies about shares: their frozen results, without the model."""

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import orjson
from cachetools import LRUCache
from safetensors import SafetensorError

from app.engine.reply_formats import JSON_COST, Reply
from app.figures.preview_picture import in_short, preview, sentence
from app.http.file_formats import JSON, SAFETENSORS
from app.http.problems import ProblemError
from app.http.request_metrics import Metrics
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import ByteCache, Recent, off_loop
from app.settings import Settings
from app.shares import formats
from app.shares.formats import Share, thawed
from app.shares.schemas import About
from app.shares.store import Shares
from app.store.storage_errors import DamagedError, StorageError
from app.store.store import Store
from model.errors import Excess, InputError

PREVIEWS = 128  # cached pictures, of some 60 kB each
TOTALS_SECONDS = 10.0  # how long the total of all shares is cached


class SharePictures(LRUCache[str, bytes]):
    """Pictures for link previews by share."""


@asynccontextmanager
async def open_shares(services: Services) -> AsyncIterator[None]:
    """Cache pictures of shares, and tell their number and bytes to the metrics."""
    shares = Shares(services[Store])
    services.add(shares)
    services.add(SharePictures(PREVIEWS))
    totals = Recent(TOTALS_SECONDS, shares.totals)
    number = services[Metrics].gauge("shares", "Stored shares.")
    size = services[Metrics].gauge("share_bytes", "Bytes in shares.")

    async def count() -> None:
        try:
            totals_now: tuple[float, float] = await totals.get()
        except StorageError:
            totals_now = math.nan, math.nan
        number.set(totals_now[0])
        size.set(totals_now[1])

    services[Metrics].refresh(count)
    yield


async def find(services: Services, share_id: str) -> Share:
    """Return a share in the current format.

    Raises a 404 ProblemError if there is none, and what the store and `formats.upgrade` raise.
    """
    share = await services[Shares].find(share_id)
    if share is None:
        raise _no_share()
    return formats.upgrade(share)


async def find_answer(services: Services, share_id: str, n: int) -> bytes:
    """Return the reply to the n-th request of a share. Raises what `find` raises."""
    stored = await services[Shares].find_answer(share_id, n)
    if stored is None:
        await find(services, share_id)
        raise ProblemError(404, "not-found", "the share has no request with this number", field="n")
    written, answer = stored
    return formats.upgrade_answer(answer, written)


async def delete(services: Services, share_id: str, edit_key: str) -> None:
    """Delete a share. Raises a 404 ProblemError if there is none, a 403 one for a wrong key."""
    deleted = await services[Shares].delete(share_id, edit_key)
    if deleted is None:
        raise _no_share()
    if not deleted:
        detail = "Edit-Key is not the edit key of this share"
        raise ProblemError(403, "wrong-edit-key", detail, field="Edit-Key")
    services[SharePictures].pop(share_id.lower(), None)


def card(share: Share) -> dict[str, Any]:
    """Return the text of a link preview: title and translation, each on one line.

    The title is the author's, or else the sentence; `about` has the author's title and description.
    Blocks; raises DamagedError.
    """
    with _readable():
        document = Reply.metadata(thawed(share.trace))["trace"]
    about = share.about or {}
    asks = "predict" in about  # then its translation is not given away
    written = "" if asks else str(document.get("output", {}).get("text", ""))
    return {
        "id": share.id,
        "title": in_short(about.get("title") or sentence(share.state)),
        "translation": in_short(written),
        "changed": "yes" if share.state.get("interventions") else "",
        "about": {name: about.get(name, "") for name in About.model_fields},
    }


async def picture(services: Services, share_id: str) -> bytes:
    """Return the PNG for link previews, drawn off the event loop. Raises what `find` raises."""
    share_id = share_id.lower()
    png = services[SharePictures].get(share_id)
    services[Metrics].count_lookup("previews", png is not None)
    if png is None or not await services[Shares].has(share_id):
        share = await find(services, share_id)
        png = services[SharePictures][share_id] = await off_loop(_draw, share)
    return png


def _draw(share: Share) -> bytes:
    hidden = "predict" in (share.about or {})
    return preview(share.state, share.model, thaw(share.trace), hidden=hidden)


def thaw(frozen: bytes) -> Reply:
    """Return the frozen trace of a share. Raises DamagedError if it cannot be read."""
    with _readable():
        return Reply.parse(thawed(frozen))


@contextmanager
def _readable() -> Iterator[None]:
    """Raise DamagedError for a file that cannot be read: old shares have no digest to check."""
    try:
        yield
    except (SafetensorError, ValueError, KeyError) as error:
        raise DamagedError from error


async def encoded(services: Services, share_id: str, media_type: str) -> bytes:
    """Return a share in a format; a share never changes, so the result is cached.

    Raises what `find` and `encode` raise.
    """

    async def make() -> bytes:
        share = await find(services, share_id)
        limit = services[Settings].max_values
        return await off_loop(encode, share, media_type, limit, size=_work(share.trace, media_type))

    return await _kept(services, share_id, ("share", media_type), make)


async def encoded_answer(services: Services, share_id: str, n: int, media_type: str) -> bytes:
    """Return the reply to the n-th request of a share in a format. Raises as `encoded` does."""

    async def make() -> bytes:
        answer = await find_answer(services, share_id, n)
        limit = services[Settings].max_values
        return await off_loop(
            encode_answer, answer, media_type, limit, size=_work(answer, media_type)
        )

    return await _kept(services, share_id, (n, media_type), make)


async def _kept(
    services: Services,
    share_id: str,
    key: tuple[object, ...],
    make: Callable[[], Awaitable[bytes]],
) -> bytes:
    """Return the cached value for a share that still exists, or make it."""
    share_id = share_id.lower()
    if not await services[Shares].has(share_id):
        return await make()  # raises the problem of a share that does not exist
    content: bytes = await services[ByteCache].find((share_id, *key), make)
    return content


def _work(frozen: bytes, media_type: str) -> int:
    """Return approximately how many bytes are processed to encode frozen data in a format."""
    return len(frozen) * (2 if media_type == SAFETENSORS else 20)


def encode(share: Share, media_type: str, max_values: int) -> bytes:
    """Encode the share as JSON, or as a file with everything except the trace under "share".

    Raises InputError if it is too large for JSON.
    """
    about = {
        "id": share.id,
        "format": share.format,
        "state": share.state,
        "created": share.created.isoformat(timespec="seconds"),
        "model": share.model or None,
        "asks": share.asks,
        "about": share.about or None,
    }
    reply = thaw(share.trace)
    _check_size(reply, media_type, max_values)
    if media_type == JSON:
        return orjson.dumps({**about, "trace": orjson.Fragment(reply.json())})
    return reply.write(media_type, share=about)


def encode_answer(answer: bytes, media_type: str, max_values: int) -> bytes:
    """Encode a stored reply in one of the formats that its route supports.

    Raises InputError if it is too large for JSON.
    """
    reply = thaw(answer)
    _check_size(reply, media_type, max_values)
    return reply.write(media_type)


def _check_size(reply: Reply, media_type: str, max_values: int) -> None:
    """Check the size for JSON; a file is always allowed, whatever the current settings."""
    limit = max_values // JSON_COST
    if media_type == JSON and reply.values > limit:
        detail = f"this has {reply.values} numbers; a JSON reply may have at most {limit}"
        excess = Excess(limit, "numbers", reply.values)
        raise InputError("reply-too-large", "", f"{detail}: request {SAFETENSORS} instead", excess)


def _no_share() -> ProblemError:
    return ProblemError(404, "unknown-share", "there is no share with this id", field="id")
