"""What a server has accepted is read again as it was sent: for each request that stores something.

A request is known by its label. `STORED` has the path at which to read, and the part of the request
that is there, in the form of the reply.
"""

from collections.abc import Callable, Mapping
from typing import Any

Part = Callable[[Any], Any]


def _whole(sent: Any) -> Any:
    return sent


def _share(sent: Any) -> Any:
    return {name: sent.get(name) for name in ("state", "asks", "about")}


def _collection(sent: Any) -> Any:
    items = [
        {name: item[name] for name in ("title", "note") if name in item}
        for item in sent.get("items", [])
    ]
    return {**sent, "items": items}


def _assignment(sent: Any) -> Any:
    asked = [{"entry": one["entry"], "ask": one["ask"]} for one in sent["questions"]]
    return {**sent, "questions": asked}


def _study(sent: Any) -> Any:
    hidden = ("arms",)  # from participants
    return {name: value for name, value in sent.items() if name not in hidden}


def _question(sent: Any) -> Any:
    hidden = ("value", "right", "cells")  # until it is revealed
    ask = {name: value for name, value in sent.get("ask", {}).items() if name not in hidden}
    if ask.get("options"):  # without what they stand for
        ask["options"] = [{"text": option["text"]} for option in ask["options"]]
    private = ("wording", "gallery")  # which are in no state
    public = {name: value for name, value in sent.items() if name not in private}
    return {"question": {**public, "ask": ask}}


STORED: Mapping[str, tuple[str, Part]] = {
    "POST /api/shares": ("/api/shares/{id}", _share),
    "POST /api/collections": ("/api/collections/{id}", _collection),
    "PUT /api/collections/{id}": ("/api/collections/{id}", _collection),
    "POST /api/assignments": ("/api/assignments/{id}", _assignment),
    "POST /api/assignments/{id}/answers": ("/api/assignments/{id}/answers", lambda _: {}),
    "POST /api/studies": ("/api/studies/{id}", _study),
    "POST /api/rooms": ("/api/rooms/{code}/state", lambda sent: sent["state"]),
    "PUT /api/rooms/{code}/state": ("/api/rooms/{code}/state", _whole),
    "PUT /api/rooms/{code}/question": ("/api/rooms/{code}/state", _question),
    "PATCH /api/rooms/{code}/question": ("/api/rooms/{code}/state", _question),
    "POST /api/rooms/{code}/answers": (
        "/api/rooms/{code}/answers",
        lambda sent: {"answers": [{"answer": sent["answer"]}]},
    ),
    "POST /api/corpora": (
        "/api/corpora/{id}",
        lambda sent: {"title": sent.get("title", "").strip(), "model": sent["model"]},
    ),
    "POST /api/runs": ("/api/runs/{id}", lambda sent: {"options": sent}),
}


def lost(sent: Any, read: Any, place: str = "") -> str | None:
    """Return the first place at which what was sent is not in what was read; null is absent."""
    if isinstance(sent, dict) and isinstance(read, dict):
        pairs = [(name, value, read.get(name)) for name, value in sent.items() if value is not None]
    elif isinstance(sent, list) and isinstance(read, list) and len(sent) <= len(read):
        pairs = [(str(n), value, read[n]) for n, value in enumerate(sent)]
    else:
        return None if sent == read else f"{place}: {sent!r} was sent, {read!r} is read"
    found = (lost(value, kept, f"{place}.{name}") for name, value, kept in pairs)
    return next((said for said in found if said), None)
