"""Shares: freezing what was seen, and showing it again without the model."""

import re
from functools import partial

import orjson
import zstandard

from app.problems import ProblemError
from app.runs import run
from app.schemas import ModelReply, ShareState
from app.services import Services
from app.store import Share
from app.wire import SAFETENSORS, Reply
from model.errors import InputError

# What the page draws, so that a share needs no model: attention, what it is made of, and the
# next-token probabilities.
FROZEN = ["*.weights", "*.mask", "*.q", "*.k", "*.v", "decoder.probabilities", "decoder.candidates"]
SPACE = re.compile(r"\s+")


async def create(services: Services, state: ShareState) -> Share:
    """Runs the state and keeps it with what was seen; durable when this returns.

    Raises what `run` raises, with fields named as they stand in a request for a share.
    """
    freeze = partial(_freeze, max_values=services.settings.max_values)
    try:
        name, _ = services.catalog.pick(state.model)
        frozen = await run(services, state, FROZEN, freeze)
    except InputError as error:
        raise InputError(error.kind, f"state.{error.field}", str(error)) from error
    model = ModelReply.model_validate(services.catalog.describe(name)).model_dump()
    return await services.store.add(state.model_dump(exclude_unset=True), model, frozen)


async def find(services: Services, share_id: str) -> Share:
    """The share of an id; raises a 404 ProblemError if there is none."""
    share = await services.store.find(share_id)
    if share is None:
        raise ProblemError(404, "unknown-share", "there is no share with this id", field="id")
    return share


def card(share: Share) -> dict[str, str]:
    """What a link preview says: the sentence and what the model made of it, each on one line."""
    document = Reply.metadata(zstandard.decompress(share.trace))["trace"]
    written = str(document["output"]["text"])
    return {
        "id": share.id,
        "title": SPACE.sub(" ", str(share.state["source"])).strip(),
        "translation": SPACE.sub(" ", written).strip(),
    }


def thaw(share: Share) -> Reply:
    """What was seen when the share was made."""
    return Reply.parse(zstandard.decompress(share.trace))


def encode(share: Share, media_type: str) -> bytes:
    """The share as JSON, or as a safetensors file with all but the trace under "share"."""
    about = {
        "id": share.id,
        "state": share.state,
        "created": share.created.isoformat(timespec="seconds"),
        "model": share.model,
    }
    reply = thaw(share)
    if media_type == SAFETENSORS:
        return reply.safetensors(share=about)
    return orjson.dumps({**about, "trace": orjson.Fragment(reply.json())})


def _freeze(reply: Reply, max_values: int) -> bytes:
    return zstandard.compress(reply.encode(SAFETENSORS, max_values))
