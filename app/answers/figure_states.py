"""The states that links give to figures of lessons: `/learn/{lesson}?shows={state}#figure-2`."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from app.answers import pictures, zoo
from app.answers.runs import nearest
from app.handout_file import Told
from app.http.problems import ProblemError
from app.http.services import Services
from app.lessons.blocks import Link
from app.lessons.links import NUMBERS
from app.off_loop import LARGE, off_loop
from app.preview.still import still
from app.runs.runs import Runs
from model.errors import InputError

FIELD = re.compile(r"f_\w{1,20}")  # of a formula
WHOLE = re.compile(r"[\d,. ]{1,20}")
SEED = re.compile(r"\d{1,9}")
PLACE = re.compile(r"\d{0,3}")  # of a word


def in_state(services: Services, own: Link, state: str) -> Link | None:
    """Return the link that shows a figure in a state; None if it is not a state of the figure.

    `own` is the figure's link in the lesson. The states are those of the lesson's page
    (`static/js/learn`), which says itself if a formula has no such number.
    """
    said = Link(own.page, state)
    if kind(said) != kind(own):
        return None
    try:
        return FITTING[kind(own)](services, own, said)
    except (InputError, ProblemError):
        return None


def kind(link: Link) -> str:
    """Return the kind of a figure: its page, or what it is instead of the page's usual figure."""
    instead = {"lab": ("show", "formula"), "workspace": ("opening", "pairing")}
    name, one = instead.get(link.page, ("", ""))
    return one if name in link.state else link.page


def has_picture(services: Services, link: Link) -> bool:
    """Return whether a figure's picture is a heatmap, and can be drawn now."""
    if link.page == "train" and "run" in link.state:
        return bool(services[Runs].find(link.state["run"]).snapshots)
    return kind(link) not in ("formula", "zoo")


async def picture(services: Services, link: Link) -> bytes:
    """Return the PNG of a figure in a state. Raises what `pictures.of_link` and `nearest` do."""
    if link.page != "train":
        return await pictures.of_link(services, link)
    told = await trained(services, link)
    shown = pictures.weights(told.about["state"], told.about["model"], told.trace)
    return await off_loop(still, shown, size=LARGE)


async def trained(services: Services, link: Link) -> Told:
    """Return what a link to a training run shows. Raises what `nearest` does."""
    said = link.state
    step = int(said["step"]) if SEED.fullmatch(said.get("step", "")) else None
    model, probe, trace = await nearest(services, said["run"], step)
    state: dict[str, Any] = {"source": probe["source"]}
    state |= {name: said[name] for name in ("view", "block") if name in said}
    state |= {name: int(said[name]) for name in NUMBERS if said.get(name, "").isdecimal()}
    return Told(trace, {"state": state, "model": model, "created": ""})


def _model(services: Services, own: Link, said: Link) -> Link | None:
    if not said.state.get("source", "").strip():
        return None
    pictures.state_of(services, said)
    return said


def _pairing(services: Services, own: Link, said: Link) -> Link | None:
    if said.state["opening"] != "1" or not PLACE.fullmatch(said.state.get("word", "")):
        return None
    # Where the lesson opens the workspace, and what its picture is drawn of.
    return _model(services, own, _over(own, said.state))


def _by_hand(services: Services, own: Link, said: Link) -> Link:
    pictures.lab_state(said, "en")
    return said


def _formula(services: Services, own: Link, said: Link) -> Link | None:
    given = {name: value for name, value in said.state.items() if name != "show"}
    fields = all(FIELD.fullmatch(name) and WHOLE.fullmatch(it) for name, it in given.items())
    return said if fields and said.state["show"] == own.state["show"] else None


def _zoo(services: Services, own: Link, said: Link) -> Link | None:
    models, length, seed = (said.state.get(name, "") for name in ("models", "length", "seed"))
    some = set(models.split(",")) <= set(own.state["models"].split(","))  # those that are served
    if not some or said.state.get("task") != own.state["task"]:
        return None
    if not SEED.fullmatch(seed) or not SEED.fullmatch(length):
        return None
    return said if int(length) in zoo.tested(models.split(",")) else None


def _trained(services: Services, own: Link, said: Link) -> Link | None:
    if "run" not in said.state:
        return None
    services[Runs].find(said.state["run"])
    return _over(own, said.state)


def _over(own: Link, state: Mapping[str, str]) -> Link:
    return Link(own.page, urlencode({**own.state, **state}))


FITTING: Mapping[str, Callable[[Services, Link, Link], Link | None]] = {
    "workspace": _model,
    "pairing": _pairing,
    "lab": _by_hand,
    "formula": _formula,
    "zoo": _zoo,
    "train": _trained,
}
