"""The register of kinds of figures: each subject says how its figures are stated, drawn and frozen.

Lessons, collections, shares and handouts ask it, and know no subject. A kind is registered when its
subject is imported.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.engine.reply_formats import Reply
from app.figures.heatmap import Heatmap, still
from app.figures.links import Link
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import LARGE, ByteCache, off_loop
from model.errors import InputError

INSTEAD = {"lab": ("show", "formula"), "workspace": ("opening", "pairing")}


@dataclass(frozen=True)
class HandoutContent:
    """What a handout shows: the content of a share."""

    trace: Reply
    about: Mapping[str, Any]
    """The share without its trace and its requests."""
    answers: Sequence[tuple[Mapping[str, Any], Reply]] = ()
    """Its additional requests, and their replies."""


def always(services: Services, link: Link) -> bool:
    """Return that a figure has a picture, whatever its link."""
    return True


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure. What reads a link raises InputError if it cannot be read."""

    fitting: Callable[[Services, Link, Link], Link | None]
    """Return the link that shows a lesson's figure, whose own link is the first, in the state of
    the second; None if that is not a state of it."""
    weights: Callable[[Services, Link], Awaitable[Heatmap]] | None = None
    """Return what its picture shows; raises what a run raises."""
    version: Callable[[Services, Link], str | None] = lambda services, link: ""
    """Return what the picture depends on besides the link, under which it is cached; None: not."""
    has_picture: Callable[[Services, Link], bool] = always
    """Return whether there is a picture now."""
    state: Callable[[Services, Link, str], Any] | None = None
    """Return the state of its link that a share or a handout freezes, for readers of a language."""
    content: Callable[[Services, Link], Awaitable[HandoutContent]] | None = None
    """Return what is in a handout, if no state is frozen for it."""


KINDS: dict[str, FigureKind] = {}


def kind_of(link: Link) -> str:
    """Return the kind of a figure: its page, or what it is instead of the page's usual figure."""
    parameter, instead = INSTEAD.get(link.page, ("", ""))
    return instead if parameter in link.state else link.page


def in_state(services: Services, figure: Link, state: str) -> Link | None:
    """Return the link that shows a lesson's figure in a state; None if it is not a state of it.

    `figure` is the figure's link in the lesson. The states are those of the lesson's page
    (`static/js/learn`), which says itself if a formula has no such number.
    """
    stated = Link(figure.page, state)
    if kind_of(stated) != kind_of(figure):
        return None
    try:
        return KINDS[kind_of(figure)].fitting(services, figure, stated)
    except (InputError, ProblemError):
        return None


def has_picture(services: Services, link: Link) -> bool:
    """Return whether a figure's picture is a heatmap, and can be drawn now."""
    kind = KINDS[kind_of(link)]
    return kind.weights is not None and kind.has_picture(services, link)


async def picture(services: Services, link: Link) -> bytes:
    """Return the PNG of the weights at a link's place.

    Raises InputError for a link that cannot be read, and what `run` raises.
    """
    kind = KINDS[link.page]
    weights = kind.weights
    assert weights is not None  # of pages with heatmaps

    async def draw() -> bytes:
        return await off_loop(still, await weights(services, link), size=LARGE)

    version = kind.version(services, link)
    if version is None:
        return await draw()
    drawn: bytes = await services[ByteCache].find(("still", link, version), draw)
    return drawn
