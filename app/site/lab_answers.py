"""Attention by hand in lessons: every step of their figures and questions, computed beforehand.

The page finds an answer by the request that it would send to a server, so a link is kept without
what no step depends on.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import orjson

from app.assets.languages import languages
from app.figures.links import Link
from app.lab.links import by_hand
from app.lab.service import worked_out
from app.lessons.markdown import Text
from app.lessons.quoted_numbers import lessons, short_lesson

NAMES = {"tokens", "memory_tokens"}
FORMULA = "show"  # of a link to a formula, which the page computes


def lab_answers() -> dict[str, Mapping[str, Any]]:
    """Return what `POST /api/lab` replies, by link: of the figure, and in its first order."""
    return {
        query: {
            "answer": orjson.loads(worked_out(by_hand(link))),
            "before": orjson.loads(worked_out(replace(by_hand(link), x=unshuffled(link)))),
        }
        for query, link in _links()
    }


def unshuffled(link: Link) -> Any:
    """Return the rows of `x` in their first order; row i is now row `order[i]` of them."""
    rows = by_hand(link).x
    order = [int(place) for place in link.state.get("order", "").split("_") if place]
    return [rows[order.index(place)] for place in range(len(order))] or rows


def _links() -> Iterator[tuple[str, Link]]:
    documents = [
        lesson.document(lang) for lesson in (*lessons(), short_lesson()) for lang in languages()
    ]
    for part in (part for document in documents for part in document.parts):
        if isinstance(part, Text) or part.block.link.page != "lab":
            continue
        state = part.block.link.state
        if FORMULA not in state:
            query = urlencode({name: state[name] for name in sorted(state.keys() - NAMES)})
            yield query, Link("lab", query)
