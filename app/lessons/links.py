"""Converts the links of lessons to requests to a model or the lab."""

import json
from collections.abc import Mapping
from typing import Any

from app.lessons.blocks import Link
from app.schemas.shares import ShareState
from app.schemas.traces import RunRequest
from model.lab.request import LabRequest, Relative

JSON_KEYS = ("decode", "interventions")
NUMBERS = ("pad_to", "layer", "head", "query", "key")
MATRICES = ("x", "memory", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "w_vocab")
VECTORS = ("b_q", "b_k", "b_v", "b_o", "w", "b", "gamma", "beta", "b_1", "b_2")
CLIP = 2  # offsets of relative positions, as in static/js/lab/matrices.js


def looking(link: Link) -> ShareState:
    """Return a link's state, validated like that of a share."""
    said: dict[str, Any] = dict(link.state)
    for key in JSON_KEYS:
        if key in said:
            said[key] = json.loads(said[key])
    for key in NUMBERS:
        if key in said:
            said[key] = int(said[key])
    return ShareState.model_validate(said)


def running(state: ShareState) -> RunRequest:
    """Return the part of a state that determines the run."""
    said = state.model_dump(exclude_unset=True, include=set(RunRequest.model_fields))
    return RunRequest.model_validate(said)


def by_hand(link: Link) -> LabRequest:
    """Return the request of a link to the lab."""
    said = link.state
    asked: dict[str, Any] = {name: _matrix(said[name]) for name in MATRICES if name in said}
    for name in VECTORS:
        if name in said:
            asked[name] = [one for row in _matrix(said[name]) for one in row]
    asked |= {name: said[name] for name in ("convention", "scoring") if name in said}
    mask, norm = said.get("mask", "none"), said.get("norm", "none")
    if mask != "none":
        asked["mask"] = mask
    if "window" in mask:
        asked["window"] = int(said["window"])
    if norm == "residual":
        asked["residual"] = True
    elif norm != "none":
        asked["norm"] = norm
    if "targets" in said:
        asked["targets"] = [int(one) for row in _matrix(said["targets"]) for one in row]
        asked["label_smoothing"] = float(said.get("smoothing", 0))
        asked["shift"] = said.get("shift") != "0"
    return LabRequest(**asked, **_positions(said), heads=int(said.get("heads", 1)))


def _positions(said: Mapping[str, str]) -> dict[str, Any]:
    kind = said.get("relative", "none")
    if kind == "sinusoidal":
        return {"positions": kind}
    if "pi" not in said:
        return {}
    offsets = {str(at - CLIP): one for at, one in enumerate(_matrix(said["pi"])[0])}
    return {"relative": Relative(**{kind: offsets}, clip=CLIP)}


def _matrix(text: str) -> list[list[float]]:
    return [[_number(cell) for cell in row.split("_")] for row in text.split("*")]


def _number(cell: str) -> float:
    over, _, under = cell.replace("−", "-").partition("/")
    return float(over) / float(under or 1)
