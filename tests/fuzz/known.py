"""Real ids, names and numbers, for requests that pass the first checks.

In a schema, `at` is any text, but hardly any text is a place of a model. So most randomly
drawn values are replaced, by the name of their field, with what a client would send.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from schemathesis import Case

from app.figures.sentence_figures import OPTION
from app.shares.creation import VIEWS

LINKS = ["/?source=Hi", "/?source=Hi&layer=9&view=none", "/learn/masks#figure-1", "/lab?x=1_0"]
OFTEN = 0.8  # share of the requests that are changed
RATES = [1.0, 0.95, 0.7]  # shares of the fields of a body
MODEL = "en-zh"
TEXTS = [
    "The cat sat.",
    "She doesn't know.",
    "猫坐在垫子上。",
    "Hi",
    "a  b\n",
    "<b>&amp;</b>",
    "🙂",
]
PLACES = ["encoder.0.self", "encoder.2.self", "decoder.1.self", "decoder.0.cross"]
AT = [*PLACES, "source", "source.position", "target.position", "encoder.1.ffn.residual"]
PATCHED = [*(f"{place}.mix" for place in PLACES), "source.input", "encoder.1.ffn.norm"]
ADDED = ["source.input", "encoder.1.ffn.output", "decoder.0.cross.residual"]
SELECT = [
    "*",
    "*.weights",
    "encoder.0.self.q",
    "decoder.*.cross.weights@0,0:2:float16",
    "decoder.candidates",
    "decoder.logits",
    "inside.lens.*",
    "inside.logit.*",
    "inside.relevance.*",
    "inside.occlusion",
    "inside.integrated-gradients",
    "inside.integrated-gradients.gap",
    "*.mask:uint8",
]
MATRICES = ["encoder.0.self.W_q", "*.gain", "decoder.0.cross.*", "nothing"]


def _index(draw: Random) -> int:
    return draw.choice([0, 0, 1, 2, 5, 9, 40])


def _edge(draw: Random) -> list[int]:
    return [_index(draw), _index(draw)]


def _deed(draw: Random) -> Any:
    deeds: list[Any] = ["zero", "uniform", "mean", "drop"]
    deeds += [{"set": [*_edge(draw), draw.random()], "renormalise": draw.random() < 0.5}]
    deeds += [{"cut": _edge(draw)}, {"temperature": draw.choice([0.01, 0.5, 2, 100])}]
    deeds += [{"mask": _index(draw)}, {"shuffle": _index(draw)}]
    deeds += [{"freeze": {"source": draw.choice(TEXTS)}}]
    rows = draw.choice([None, [_edge(draw)], [_edge(draw), _edge(draw)]])
    deeds += [{"patch": {"source": draw.choice(TEXTS), "rows": rows}}]
    deeds += [{"cut": [_edge(draw), _edge(draw)]}]
    deeds += [{"scale": draw.choice([-1, 0, 2])}, {"fill": draw.choice([-3, 0.5])}]
    to = {"source": draw.choice(TEXTS), "row": _index(draw)}
    deeds += [{"add": {"to": to, "minus": draw.choice([None, to])}}]
    deeds += [{"add": [draw.random()] * 256}]
    return draw.choice(deeds)


def _changes(draw: Random) -> list[Any]:
    """Draw interventions at valid places, sometimes at a head that does not exist."""
    made = []
    for _ in range(draw.choice([0, 0, 1, 1, 2])):
        do = _deed(draw)
        at = draw.choice(PLACES)
        if do == "drop" or "shuffle" in do:
            at = "source.position"
        if {"patch", "scale", "fill"} & {*do}:
            at = draw.choice(PATCHED)
        if "add" in do:
            at = draw.choice(ADDED)
        head = draw.choice([None, 0, 7, 8]) if at in PLACES and "mask" not in do else None
        made.append({"at": "source" if "mask" in do else at, "do": do, "head": head})
        for part in ("heads", "rows", "units"):
            if draw.random() < 0.2:
                made[-1][part] = [_index(draw)]
    return made


def _some(names: list[str], most: int = 2) -> Callable[[Random], list[str]]:
    return lambda draw: draw.sample(names, draw.randint(0, most))


FIELDS: Mapping[str, Callable[[Random], Any]] = {
    "source": lambda draw: draw.choice(TEXTS),
    "target": lambda draw: draw.choice([None, "猫坐着。", "A cat", "。"]),
    "model": lambda draw: MODEL,
    "direction": lambda draw: draw.choice([None, "en-zh", "zh-en"]),
    "interventions": _changes,
    "at": lambda draw: draw.choice(AT),
    "do": _deed,
    "select": _some(SELECT),
    "summarise": _some(["*", *PLACES]),
    "dtype": lambda draw: draw.choice(["float32", "float16", "uint8"]),
    "pad_to": lambda draw: draw.choice([None, 1, 8, 32, 160]),
    "beam": lambda draw: draw.randint(1, 6),
    "max_tokens": lambda draw: draw.choice([None, 1, 3, 12]),
    "length_penalty": lambda draw: draw.choice([0, 0.6, 5]),
    "temperature": lambda draw: draw.choice([0.1, 1, 10]),
    "top_k": lambda draw: draw.choice([None, 1, 50]),
    "top_p": lambda draw: draw.choice([0, 0.5, 1]),
    "prefix": lambda draw: [draw.randint(0, 300) for _ in range(draw.randint(0, 3))],
    "candidates": lambda draw: draw.randint(1, 50),
    "row": _index,
    "head": _index,
    "layer": _index,
    "query": _index,
    "key": _index,
    "example": _index,
    "view": lambda draw: draw.choice(VIEWS),
    "block": lambda draw: draw.choice(["encoder", "decoder", "cross"]),
    "lang": lambda draw: draw.choice(["en", "zh"]),
    "variant": lambda draw: draw.choice(["sinusoidal", "learned", "rotary"]),
    "length": lambda draw: draw.choice([1, 3, 64]),
    "d_model": lambda draw: draw.choice([1, 2, 7, 64]),
    "text": lambda draw: draw.choice(["https://example.org/s/1", "猫", "The cat sat."]),
    "theme": lambda draw: draw.choice(["light", "dark"]),
    "stage": lambda draw: draw.choice(["discuss", "discuss", "second", "revealed"]),
    "answer": lambda draw: draw.choice([["2"], ["-1e9"], ["猫"], ["0.1", "0.9"]]),
    "answers": lambda draw: draw.choice([[["2"]], [["猫"]], [None], [["0.1", "0.9"]], []]),
    "n": lambda draw: draw.choice([1, 1, 1, 0, 2]),
    "link": lambda draw: draw.choice(["/", "/?source=Hi", "/lab", "//example.org", "/docs"]),
}
ABOUT = "source=Hi&block=encoder&layer=0&head=0"
AXES = {"rows": ["<2zh>", "Hi", "<eos>"], "columns": ["<2zh>", "Hi", "<eos>"]}
GOAL = {"kind": "strongest", "key": "Hi"}
# Their parts must fit each other, as drawn ones hardly do.
POINT: dict[str, Any] = {
    "entry": "cell",
    "ask": {"kind": "point", "link": ABOUT, "axes": AXES, "cells": ["1 2"]},
}
CHALLENGE: dict[str, Any] = {"entry": "work", "ask": {"kind": "does", "link": ABOUT, "goal": GOAL}}
FORMS = ["*/*", "application/json", "application/octet-stream", "application/x-npz"]
FORMS = [*FORMS, *FORMS, "text/html;q=nan, a, ;q=2"]


def real(value: Any, draw: Random, rate: float, name: str = "") -> Any:
    """Return the value with most of its fields replaced, by name."""
    if name in FIELDS and draw.random() < rate:
        return FIELDS[name](draw)
    match value:
        case {"entry": _, "ask": _} as asked if draw.random() < rate / 2:
            return {**asked, **draw.choice([POINT, CHALLENGE])}
        case {"parameters": {"select": _} as asked}:  # in a share: names of matrices
            return {"parameters": {**real(asked, draw, rate), "select": _some(MATRICES, 1)(draw)}}
        case dict():
            return {key: real(inner, draw, rate, key) for key, inner in value.items()}
        case list():
            return [real(inner, draw, rate) for inner in value]
    return value


def fitting(body: Any) -> Any:
    """Adapt a body to a model that translates, with valid names of options."""
    match body:
        case {"state": dict(state)}:
            named = {name: one for name, one in state.items() if OPTION.fullmatch(name)}
            return {**body, "state": fitting(named)}
        case {"text": _} if "source" not in body:
            return {("source" if name == "text" else name): one for name, one in body.items()}
    return body


class Known:
    """Existing shares, collections, assignments, studies, rooms; functions create missing ones."""

    def __init__(
        self,
        make: Callable[[], dict[str, Any]],
        collect: Callable[[], dict[str, Any]],
        assign: Callable[[bool], dict[str, Any]],
        plan_study: Callable[[], dict[str, Any]],
        make_room: Callable[[], dict[str, Any]],
    ) -> None:
        self._make = make
        self._collection = collect
        self._assignment = assign
        self._study = plan_study
        self._make_room = make_room
        self.shares: list[dict[str, Any]] = []
        self.rooms: list[dict[str, Any]] = []

    def room(self, draw: Random) -> dict[str, Any]:
        """Return the `code` and the `key` of a room."""
        while len(self.rooms) < 2:
            self.rooms.append(self._make_room())
        return draw.choice(self.rooms)

    def share(self, draw: Random) -> dict[str, Any]:
        """Return the `id` and the `edit_key` of a share."""
        while len(self.shares) < 2:
            self.shares.append(self._make())
        return draw.choice(self.shares)

    def put_into(self, case: Case[Any], draw: Random) -> None:
        """Replace most parts of a request with existing ids and names."""
        if isinstance(case.body, dict | list):
            fits = draw.random() < OFTEN and case.path != "/api/corpora"
            body = fitting(case.body) if fits else case.body
            case.body = real(body, draw, draw.choice(RATES))
        if case.query:
            case.query = {name: self._parameter(case, name, draw) for name in case.query}
        if case.path_parameters:
            self._fill_path(case, draw)

    def _parameter(self, case: Case[Any], name: str, draw: Random) -> Any:
        if name == "select":
            return draw.choice(MATRICES)
        if name == "link" and draw.random() < OFTEN:
            return draw.choice([*LINKS, f"/s/{self.share(draw)['id']}"])
        return real(case.query[name], draw, OFTEN, name)

    def _fill_path(self, case: Case[Any], draw: Random) -> None:
        if draw.random() > OFTEN:
            return
        found = dict(case.path_parameters)
        if "/collections/" in case.path:
            self._fill_collection(case, found, draw)
        elif "/shares/" in case.path:
            share = self.share(draw)
            found["id"] = draw.choice([share["id"], share["id"].upper()])
            if case.method == "DELETE" and draw.random() < 0.5:
                case.headers["Edit-Key"] = share["edit_key"]
                self.shares.remove(share)
        elif "/assignments/" in case.path or "/studies/" in case.path:
            one = (
                self._study()
                if "/studies/" in case.path
                else self._assignment(case.path.endswith("/checks"))
            )
            found["id"] = one["id"]
            if draw.random() < OFTEN:
                case.headers["Authorization"] = f"Bearer {one['key']}"
        elif "/rooms/" in case.path:
            self._fill_room(case, found, draw)
        else:
            found["id"] = MODEL
        for counted in found.keys() & {"n", "example"}:
            found[counted] = _index(draw)
        case.path_parameters = found

    def _fill_collection(self, case: Case[Any], found: dict[str, Any], draw: Random) -> None:
        one = self._collection()
        found["id"] = one["id"]
        if case.method != "GET" and draw.random() < OFTEN:
            case.headers["Edit-Key"] = one["edit_key"]
            if case.method == "PUT":
                case.headers["If-Match"] = draw.choice(["*", '"1"', '"2"'])

    def _fill_room(self, case: Case[Any], found: dict[str, Any], draw: Random) -> None:
        if case.path.endswith(("/events", "/state")) and case.method == "GET":
            return  # a room that exists would keep the request waiting
        answering = case.path.endswith("/answers") and case.method == "POST"
        fresh = answering or (case.path.endswith("/question") and case.method == "PATCH")
        room = self._make_room() if fresh else self.room(draw)  # which is asked question 1
        found["code"] = room["code"]
        if draw.random() < OFTEN:
            case.headers["Authorization"] = f"Bearer {room['key']}"
            if case.method == "DELETE" and case.path.endswith("{code}"):
                self.rooms.remove(room)
