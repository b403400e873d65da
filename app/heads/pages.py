"""The pages about what heads do, complete without JavaScript except for their drawings."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request
from fastapi.responses import HTMLResponse

from app.assets.templates import render
from app.engine.model_listing import Listing
from app.heads import corpora
from app.heads.indexing import Indexing
from app.heads.schemas import ElsewhereReply, SurveyedHeadReply
from app.heads.service import elsewhere, served, survey
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
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
    text = corpora.of_model(services, model, corpus) if corpus else None
    ready = text is not None and text.state["state"] == "done"
    surveyed = survey(services, model, corpus if ready else "")
    info = services[Listing][model]
    variables = {
        "model": info,
        "survey": surveyed,
        "rows": rows(info, surveyed.heads),
        "corpus": text and corpora.told(text),
        "ready": ready,
        "indexing": services[Indexing],
        "settings": services[Settings],
    }
    return render(request, services, "heads.html", more=variables)


def head(
    request: Request, services: Services, model: str, place: str, head: int, corpus: str
) -> HTMLResponse:
    """Return the page of one head. Raises a 404 ProblemError if it, or the text, is not known."""
    surveyed = survey(services, model, corpus)
    info = services[Listing][model]
    listed = rows(info, surveyed.heads)
    by_name = {(row_listed.found.place, row_listed.found.head): row_listed for row_listed in listed}
    if (place, head) not in by_name:
        raise ProblemError(404, "unknown-head", "this model has no such head", field="head")
    row = by_name[place, head]
    index = listed.index(row)
    variables = {
        "model": info,
        "survey": surveyed,
        "row": row,
        "rows": by_name,
        "corpus": corpora.told(corpora.done(services, model, corpus)) if corpus else None,
        # Over another text, the patterns of other models hold more or less often for that alone.
        "elsewhere": []
        if corpus
        else [
            _elsewhere(services, similar_head)
            for similar_head in elsewhere(services, model, place, head)
        ],
        "patterns": patterns_of(row.attention.kind == CROSS),
        "before": listed[index - 1] if index else None,
        "after": listed[index + 1] if index + 1 < len(listed) else None,
    }
    return render(request, services, "attention-head.html", more=variables)


def _elsewhere(
    services: Services, similar_head: ElsewhereReply
) -> tuple[AttentionInfo, ElsewhereReply]:
    [attention] = [
        attention
        for attention in services[Listing][similar_head.model].attentions
        if attention.place == similar_head.place
    ]
    return attention, similar_head


def rows(info: ModelInfo, heads: Sequence[SurveyedHeadReply]) -> list[HeadRow]:
    """Return the surveyed heads in their order, each with its attention."""
    table = {attention.place: attention for attention in info.attentions}
    return [
        HeadRow(table[head.place], head, f"/heads/{info.id}/{head.place}/{head.head}")
        for head in heads
    ]
