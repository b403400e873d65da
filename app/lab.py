"""Attention by hand: small matrices, step by step, and the kinds of figures that show it.

POST /api/lab has requests, replies and shares; GET /api/lab/scaling. `model.lab.lab_request` checks
sizes and numbers. A link to the lab names a request and a state.

Stores nothing. Uses `figures`.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import partial
from itertools import islice
from typing import Annotated, Any
from urllib.parse import parse_qs

import numpy as np
import orjson
from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.engine.engine import Engine
from app.engine.reply_formats import Reply, numbers
from app.figures.figure_kinds import KINDS, FigureKind
from app.figures.heatmap import Heatmap
from app.figures.links import Link
from app.figures.sentence_figures import unreadable
from app.http.replies import JSON_BODY, problems
from app.http.request_fields import Name, Strict, Text, fields_of, within
from app.http.route_dependencies import Opened, Services
from app.http.tasks_and_caches import LARGE, SMALL, ByteCache, off_loop
from model.lab.compute import WIDTHS, compute, scaling
from model.lab.lab_request import MATRICES, LabRequest, Relative
from model.trace.tensor_tap import KEY, QUERY

MAX_LINK = 8_000  # characters of its link: its largest matrices, 12 per number

MAX_BYTES = 1_000_000  # of a body: nine matrices of 64 × 64, with some 25 characters per number


@fields_of(Relative)
class RelativeBody(Strict):
    """One number per offset of a key from its query, added to the scores or multiplied."""


@fields_of(LabRequest)
class LabBody(Strict):
    """Matrices, and the parts to run them through."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "x": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
                    "w_q": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
                    "w_k": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
                    "w_v": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
                    "mask": "causal",
                }
            ]
        }
    )

    relative: RelativeBody | None = None

    def request(self) -> LabRequest:
        """Convert the request to a `LabRequest`."""
        values = {field.name: getattr(self, field.name) for field in fields(LabRequest)}
        if self.relative is not None:
            values["relative"] = Relative(**self.relative.model_dump())
        return LabRequest(**values)


class LabReply(BaseModel):
    """Every step by name, in the order of computation."""

    steps: dict[str, Any] = Field(
        description="Nested lists of float64 (`mask`: booleans; `loss`: one number).",
        examples=[{"weights": [[[1, 0], [0.27, 0.73]]]}],
    )
    dims: dict[str, list[str]] = Field(
        description="The axes of each; in the column convention the last two are swapped.",
        examples=[{"weights": ["head", "query", "key"]}],
    )


class ScalingReply(BaseModel):
    """Results at each d_k: `scores` and `weights` of one query, the others of many."""

    scores: list[list[float]] = Field(description="For each d_k, one number per key.")
    weights: list[list[float]] = Field(description="Their softmax.")
    spread: list[float] = Field(description="Standard deviation of the scores.")
    largest: list[float] = Field(description="Mean of the largest weight.")
    gradient: list[float] = Field(
        description="Mean slope of the largest weight a against its own score, a (1 − a)."
    )


class ScalingsReply(BaseModel):
    """The same random queries and keys, scored without and with 1/√d_k."""

    d_k: list[int]
    dot: ScalingReply
    scaled: ScalingReply


class LabShareState(Strict):
    """Attention by hand: the request, and the link that the page opens with."""

    lab: LabBody
    before: LabBody | None = Field(
        default=None,
        description="If the words are shuffled in the link: the same request in the original "
        "order. Its steps are stored too, as `before.…`.",
    )
    link: Annotated[Text, Field(max_length=MAX_LINK)] = Field(
        description="The query string of the lab's address. It is not checked."
    )
    lang: Name | None = None


LEAST = 25.0  # units of work: about 3 ms for any size

PER_NUMBER = 0.01

SHORT = 1000  # numbers: requests of the page have fewer, and take less time than switching threads

BEFORE = "before."

NAME = 40  # characters kept of a token's name


def price(request: LabRequest) -> float:
    """Return the cost of a request in the engine's units of work (`app.engine.jobs`)."""
    return LEAST + PER_NUMBER * numbers_in(request)


def numbers_in(request: LabRequest) -> int:
    """Return how many numbers the matrices of a request have, which are not checked yet."""
    matrices = (getattr(request, name) or [] for name in MATRICES)
    return sum(len(row) for matrix in matrices for row in matrix if isinstance(row, list))


def worked_out(request: LabRequest) -> bytes:
    """Return the JSON reply. Raises InputError if a matrix is invalid or does not match another."""
    steps = compute(request).steps
    document = {
        "steps": {
            name: numbers(np.ascontiguousarray(step.value)) if step.dims else float(step.value)
            for name, step in steps.items()
        },
        "dims": {name: step.dims for name, step in steps.items()},
    }
    return orjson.dumps(document)


async def lab_reply(services: Services, request: LabRequest) -> bytes:
    """Compute the reply, on a thread if large. Raises SpentError if the budget is spent."""
    services[Engine].charge(price(request))
    size = SMALL if numbers_in(request) <= SHORT else LARGE
    return await off_loop(worked_out, request, size=size)


def frozen(state: LabShareState) -> Reply:
    """Return the content of a share of the lab: all steps by name. Raises as `compute` does."""
    with within("state.lab"):
        steps = dict(compute(state.lab.request()).steps)
    if state.before is not None:
        with within("state.before"):
            before = compute(state.before.request()).steps
        steps |= {BEFORE + name: step for name, step in before.items()}
    arrays = {name: np.ascontiguousarray(step.value) for name, step in steps.items()}
    tensors = {
        name: {
            "dims": step.dims,
            "over": {dim: dim for dim in step.dims if dim in (QUERY, KEY)},
            "shape": arrays[name].shape,
            "dtype": str(arrays[name].dtype),
        }
        for name, step in steps.items()
    }
    weights = steps["weights"]
    counts = dict(zip(weights.dims, weights.value.shape, strict=True))
    tokens = {side: names(state.link, side, counts[side]) for side in (QUERY, KEY)}
    return Reply({"tokens": tokens, "tensors": tensors}, arrays)


async def freeze(services: Services, state: LabShareState) -> Reply:
    """Run `frozen` on a thread, and charge the client for it."""
    for lab in (state.lab, state.before):
        if lab is not None:
            services[Engine].charge(price(lab.request()))
    return await off_loop(frozen, state, size=LARGE)


def names(link: str, side: str, count: int) -> list[str]:
    """Return the token names in the lab's link; numbers from 1 for unnamed tokens."""
    parameters: Mapping[str, list[str]] = parse_qs(link)
    field = "memory_tokens" if side == KEY and "memory" in parameters else "tokens"
    lines = parameters.get(field, [""])[0].split("\n")
    tokens = [name[:NAME].strip() for name in islice(lines, count)]
    return [(tokens[n] if n < len(tokens) else "") or str(n + 1) for n in range(count)]


def scaling_reply(keys: int, seed: int) -> bytes:
    """Return the JSON reply of `GET /api/lab/scaling`."""
    document: dict[str, Any] = {
        name: {key: numbers(value) for key, value in asdict(result).items()}
        for name, result in scaling(keys, seed).items()
    }
    return orjson.dumps({"d_k": WIDTHS, **document})


LINKED_MATRICES = ("x", "memory", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "w_vocab")

VECTORS = ("b_q", "b_k", "b_v", "b_o", "w", "b", "gamma", "beta", "b_1", "b_2")

FIELD = re.compile(r"f_\w{1,20}")  # of a formula

NUMBER = re.compile(r"[\d,. ]{1,20}")

CLIP = 2  # offsets of relative positions, as in static/js/lab/matrices.js


def request_of(link: Link) -> LabRequest:
    """Return the request of a link to the lab. Raises InputError if it cannot be read."""
    try:
        return by_hand(link)
    except (ValueError, KeyError, TypeError, ArithmeticError) as error:
        raise unreadable() from error


def lab_state(link: Link, lang: str) -> LabShareState:
    """Return the state of a link to the lab. Raises InputError if it cannot be read."""
    fields = {name: value for name, value in asdict(request_of(link)).items() if value is not None}
    try:
        return LabShareState.model_validate({"lab": fields, "link": link.query, "lang": lang})
    except ValidationError as error:
        raise unreadable() from error


def by_hand(link: Link) -> LabRequest:
    """Return the request of a link to the lab."""
    state = link.state
    fields: dict[str, Any] = {
        name: _matrix(state[name]) for name in LINKED_MATRICES if name in state
    }
    for name in VECTORS:
        if name in state:
            fields[name] = [number for row in _matrix(state[name]) for number in row]
    fields |= {name: state[name] for name in ("convention", "scoring") if name in state}
    mask, norm = state.get("mask", "none"), state.get("norm", "none")
    if mask != "none":
        fields["mask"] = mask
    if "window" in mask:
        fields["window"] = int(state["window"])
    if norm == "residual":
        fields["residual"] = True
    elif norm != "none":
        fields["norm"] = norm
    if "targets" in state:
        fields["targets"] = [int(number) for row in _matrix(state["targets"]) for number in row]
        fields["label_smoothing"] = float(state.get("smoothing", 0))
        fields["shift"] = state.get("shift") != "0"
    return LabRequest(**fields, **_positions(state), heads=int(state.get("heads", 1)))


def _positions(state: Mapping[str, str]) -> dict[str, Any]:
    kind = state.get("relative", "none")
    if kind == "sinusoidal":
        return {"positions": kind}
    if "pi" not in state:
        return {}
    offsets = {str(offset - CLIP): number for offset, number in enumerate(_matrix(state["pi"])[0])}
    return {"relative": Relative(**{kind: offsets}, clip=CLIP)}


def _matrix(text: str) -> list[list[float]]:
    return [[_number(cell) for cell in row.split("_")] for row in text.split("*")]


def _number(cell: str) -> float:
    over, _, under = cell.replace("−", "-").replace(",", ".").partition("/")
    return float(over) / float(under or 1)


async def _weights(services: Services, link: Link) -> Heatmap:
    return await off_loop(_heatmap, link, size=LARGE)


def _heatmap(link: Link) -> Heatmap:
    steps = compute(request_of(link)).steps
    weights, mask = steps["weights"].value[0], steps["mask"].value
    if link.state.get("convention") == "column":
        weights, mask = weights.T, mask.T
    rows, columns = (
        names(link.query, side, count)
        for side, count in zip((QUERY, KEY), weights.shape, strict=True)
    )
    return Heatmap(weights, mask, rows, columns)


def _fitting(services: Services, figure: Link, stated: Link) -> Link:
    lab_state(stated, "en")
    return stated


def _fitting_formula(services: Services, figure: Link, stated: Link) -> Link | None:
    inputs = {name: value for name, value in stated.state.items() if name != "show"}
    fields = all(
        FIELD.fullmatch(name) and NUMBER.fullmatch(number) for name, number in inputs.items()
    )
    return stated if fields and stated.state["show"] == figure.state["show"] else None


KINDS["lab"] = FigureKind(
    _fitting, _weights, state=lambda services, link, lang: lab_state(link, lang)
)

KINDS["formula"] = FigureKind(_fitting_formula)

router = APIRouter(tags=["lab"])


@router.post(
    "/lab",
    summary="Compute attention step by step on your own matrices",
    response_class=Response,
    responses={
        200: {"model": LabReply, "description": "Every step by name."},
        **problems(
            **JSON_BODY,
            _422="A matrix is invalid, or does not match another; `detail` says which and where.",
            _429="Too much work in a short time; `Retry-After` says when to retry.",
        ),
    },
)
async def lab(services: Opened, body: LabBody) -> Response:
    """Compute with the parts of a model, in float64, on the given numbers, without any model."""
    content = await lab_reply(services, body.request())
    return Response(content, media_type="application/json")


@router.get(
    "/lab/scaling",
    summary="Show why scores are divided by √d_k",
    response_class=Response,
    responses={
        200: {"model": ScalingsReply, "description": "Scores, weights and gradients by d_k."},
        **problems(_422="A parameter is not valid."),
    },
)
async def lab_scaling(
    services: Opened,
    keys: Annotated[int, Query(ge=2, le=32, description="Keys of each query.")] = 6,
    seed: Annotated[int, Query(ge=0, le=9999, description="Seed of the random vectors.")] = 0,
) -> Response:
    """Score random queries and keys of unit variance, for d_k from 1 to 512, in both ways."""
    make = partial(off_loop, scaling_reply, keys, seed, size=LARGE)
    content = await services[ByteCache].find(("scaling", keys, seed), make)
    return Response(content, headers={"Cache-Control": "no-cache"}, media_type="application/json")
