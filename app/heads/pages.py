"""The pages about what heads do, complete without JavaScript except for their drawings."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request
from fastapi.responses import HTMLResponse

from app.assets.pages import render
from app.engine.model_listing import Listing
from app.heads import corpora
from app.heads.indexing import Indexing
from app.heads.schemas import ElsewhereReply, SurveyedHeadReply
from app.heads.service import elsewhere, served, survey
from app.http.problems import ProblemError
from app.http.services import Services
from app.settings import Settings
from model.adapters.requests.model_info import ModelInfo
from model.corpus.row_patterns import patterns_of
from model.trace.attentions import CROSS, AttentionInfo


@dataclass(frozen=True)
class HeadRow:
    """A head with its attention, for templates."""

    attention: AttentionInfo
    found: SurveyedHeadReply
    path: str
    """The address of its page."""


def overview(request: Request, services: Services, model: str, corpus: str) -> HTMLResponse:
    """Return the page of all heads, over a reader's text if one is named.

    While that is being indexed, the page shows the model's own sentences and the progress. Raises a
    404 ProblemError without a survey.
    """
    served(services, model)
    kept = corpora.of_model(services, model, corpus) if corpus else None
    ready = kept is not None and kept.state["state"] == "done"
    told = survey(services, model, corpus if ready else "")
    info = services[Listing][model]
    more = {
        "model": info,
        "survey": told,
        "rows": rows(info, told.heads),
        "corpus": kept and corpora.told(kept),
        "ready": ready,
        "indexing": services[Indexing],
        "settings": services[Settings],
    }
    return render(request, services, "heads.html", more=more)


def head(
    request: Request, services: Services, model: str, place: str, head: int, corpus: str
) -> HTMLResponse:
    """Return the page of one head. Raises a 404 ProblemError if it, or the text, is not known."""
    told = survey(services, model, corpus)
    info = services[Listing][model]
    listed = rows(info, told.heads)
    by_name = {(one.found.place, one.found.head): one for one in listed}
    if (place, head) not in by_name:
        raise ProblemError(404, "unknown-head", "this model has no such head", field="head")
    row = by_name[place, head]
    at = listed.index(row)
    more = {
        "model": info,
        "survey": told,
        "row": row,
        "rows": by_name,
        "corpus": corpora.told(corpora.done(services, model, corpus)) if corpus else None,
        # Over another text, the patterns of other models hold more or less often for that alone.
        "elsewhere": []
        if corpus
        else [_elsewhere(services, one) for one in elsewhere(services, model, place, head)],
        "patterns": patterns_of(row.attention.kind == CROSS),
        "before": listed[at - 1] if at else None,
        "after": listed[at + 1] if at + 1 < len(listed) else None,
    }
    return render(request, services, "head.html", more=more)


def _elsewhere(services: Services, found: ElsewhereReply) -> tuple[AttentionInfo, ElsewhereReply]:
    [one] = [one for one in services[Listing][found.model].attentions if one.place == found.place]
    return one, found


def rows(info: ModelInfo, heads: Sequence[SurveyedHeadReply]) -> list[HeadRow]:
    """Return the surveyed heads in their order, each with its attention."""
    table = {one.place: one for one in info.attentions}
    return [
        HeadRow(table[one.place], one, f"/heads/{info.id}/{one.place}/{one.head}") for one in heads
    ]
