"""Links to the lab: the request and the state that they name."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import ValidationError

from app.figures.figure_kinds import KINDS, FigureKind
from app.figures.heatmap import Heatmap
from app.figures.links import Link
from app.figures.sentence_states import unreadable
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import LARGE, off_loop
from app.lab.schemas import LabShareState
from app.lab.service import names
from model.lab.compute import compute
from model.lab.request import LabRequest, Relative
from model.trace.tensor_tap import KEY, QUERY

MATRICES = ("x", "memory", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "w_vocab")
VECTORS = ("b_q", "b_k", "b_v", "b_o", "w", "b", "gamma", "beta", "b_1", "b_2")
FIELD = re.compile(r"f_\w{1,20}")  # of a formula
NUMBER = re.compile(r"[\d,. ]{1,20}")
CLIP = 2  # offsets of relative positions, as in static/js/lab/matrices.js


def request_of(link: Link) -> LabRequest:
    """Return the request of a link to the lab. Raises InputError if it cannot be read."""
    try:
        return by_hand(link)
    except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
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
    fields: dict[str, Any] = {name: _matrix(state[name]) for name in MATRICES if name in state}
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
