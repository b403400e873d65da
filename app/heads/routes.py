"""GET /api/models/{id}/heads: what heads do over many sentences, examples, and a search.

POST /api/corpora: texts of readers for the pages about heads, and the routes of one. Their pages
are complete without JavaScript except for their drawings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import HTMLResponse

from app.assets.templates import base_url, render
from app.engine.model_listing import Listing
from app.heads import corpora
from app.heads import service as heads
from app.heads.indexing import Indexing
from app.heads.schemas import (
    CorpusCreated,
    CorpusReply,
    CorpusRequest,
    ElsewhereReply,
    FoundRowsReply,
    HeadExamplesReply,
    SurveyedHeadReply,
    SurveyReply,
)
from app.heads.service import elsewhere, served, survey
from app.http.problems import ProblemError
from app.http.replies import problems, run_problems
from app.http.route_dependencies import Opened, Services
from app.settings import Settings
from model.adapters.requests.model_info import ModelInfo
from model.corpus.row_patterns import patterns_of
from model.corpus.row_search import RowQuery
from model.trace.attentions import CROSS, AttentionInfo


@dataclass(frozen=True)
class HeadRow:
    """A head with its attention, for templates."""

    attention: AttentionInfo
    found: SurveyedHeadReply
    path: str
    """The address of its page."""


def show_heads(request: Request, services: Services, model: str, corpus: str) -> HTMLResponse:
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


def show_head(
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


router = APIRouter(prefix="/models", tags=["models"])

Id = Annotated[str, Path(alias="id", examples=["en-zh"])]

Place = Annotated[str, Path(examples=["encoder.0.self"])]

Head = Annotated[int, Path(ge=0, le=10_000, description="From 0.")]

Corpus = Annotated[
    str,
    Query(
        max_length=40,
        description="A text of `POST /api/corpora` in place of the model's own sentences.",
    ),
]

UNKNOWN = problems(
    _404="No such model or head, or no sentences have been indexed for the model.",
    _422="The pattern does not exist for this attention, or a value is out of range.",
)


@router.get(
    "/{id}/heads",
    summary="Read what the heads of a model do over many sentences",
    responses=problems(
        _404="No such model or text, or its heads have not been measured.",
        _422="The name of the text is too long.",
    ),
)
async def model_heads(
    services: Opened, response: Response, name: Id, corpus: Corpus = ""
) -> SurveyReply:
    """Return how often each pattern holds, measures, costs, and similar heads, for every head."""
    response.headers["Cache-Control"] = "no-cache"
    return heads.survey(services, name, corpus)


@router.get(
    "/{id}/heads/{place}/{head}/examples",
    summary="Read sentences in which a head does more or less of something",
    responses=UNKNOWN,
)
async def head_examples(
    services: Opened,
    response: Response,
    name: Id,
    place: Place,
    head: Head,
    by: Annotated[
        str,
        Query(
            max_length=40,
            description="`largest`: the mean of the rows' largest weights; or a pattern: the share "
            "of rows in which it holds.",
            examples=["nearby"],
        ),
    ] = heads.LARGEST,
    corpus: Corpus = "",
) -> HeadExamplesReply:
    """Rank all indexed sentences, and return those at 100 %, 90 %, … 0 % of the ranking."""
    response.headers["Cache-Control"] = "no-cache"
    return await heads.examples(services, name, place, head, by, corpus)


@router.get(
    "/{id}/heads/{place}/{head}/elsewhere",
    summary="Read which heads of other models are similar",
    responses=problems(_404="No such model or head, or its heads have not been measured."),
)
async def head_elsewhere(
    services: Opened, response: Response, name: Id, place: Place, head: Head
) -> list[ElsewhereReply]:
    """Compare how often each pattern holds, with the heads of the other models served here."""
    response.headers["Cache-Control"] = "no-cache"
    return heads.elsewhere(services, name, place, head)


@router.get(
    "/{id}/heads/{place}/{head}/rows",
    summary="Search for rows of a head",
    responses=UNKNOWN,
)
async def head_rows(
    services: Opened,
    response: Response,
    name: Id,
    place: Place,
    head: Head,
    query: Annotated[
        str, Query(max_length=100, description="The word of the row, ignoring case.")
    ] = "",
    key: Annotated[
        str, Query(max_length=100, description="The word with the row's largest weight.")
    ] = "",
    distance: Annotated[
        int, Query(ge=0, le=100_000, description="Least distance of that key, in tokens.")
    ] = 0,
    weight: Annotated[float, Query(ge=0, le=1, description="Least weight on it.")] = 0.0,
    pattern: Annotated[
        str, Query(max_length=40, description="A pattern that holds in the row.")
    ] = "",
    limit: Annotated[int, Query(ge=1, le=100, description="Most rows to return.")] = 20,
    corpus: Corpus = "",
) -> FoundRowsReply:
    """Return rows in which the head looks from one word to another, one per sentence."""
    response.headers["Cache-Control"] = "no-cache"
    row_query = RowQuery(place, head, query, key, distance, weight, pattern)
    return await heads.found_rows(services, name, row_query, limit, corpus)


corpora_router = APIRouter(prefix="/corpora", tags=["models"])

CorpusId = Annotated[
    str, Path(alias="id", description="From the reply to `POST /api/corpora`.", max_length=40)
]


@corpora_router.post(
    "",
    status_code=201,
    summary="Index a text of your own for the pages about heads",
    responses=run_problems(
        _404="This server indexes no texts of readers.",
        _429="A text of this page is being indexed, or too much work; see `Retry-After`.",
        _503="Too many texts are waiting; `Retry-After` says when to retry.",
        _507="As many texts are kept as the server allows.",
    ),
)
async def create_corpus(
    request: Request, response: Response, services: Opened, body: CorpusRequest
) -> CorpusCreated:
    """Add a text to the queue; it is indexed as `python -m model measure corpus --index` does.

    Its id is the `corpus` of the routes about heads, for as long as the text is kept.
    """
    text, key = corpora.create(services, body)
    response.headers["Location"] = request.app.url_path_for("read_corpus", id=text.id)
    path = request.app.url_path_for("heads_page", model=body.model)
    url = f"{base_url(request, services)}{path}?{urlencode({'corpus': text.id})}"
    return CorpusCreated(**corpora.told(text).model_dump(), url=url, key=key)


@corpora_router.get(
    "/{id}",
    summary="Read how far a text is indexed",
    responses=problems(_404="No such text, or it has expired."),
)
async def read_corpus(services: Opened, response: Response, corpus_id: CorpusId) -> CorpusReply:
    """Return the state of a text, without its sentences."""
    response.headers["Cache-Control"] = "no-store"
    return corpora.told(services[Indexing].find(corpus_id))


@corpora_router.delete(
    "/{id}",
    status_code=204,
    summary="Delete a text",
    responses=problems(
        _403="The key does not match.",
        _404="No such text, or it has expired.",
        _422="`Corpus-Key` is missing.",
    ),
)
async def delete_corpus(
    services: Opened,
    corpus_id: CorpusId,
    corpus_key: Annotated[
        str, Header(alias="Corpus-Key", description="From the reply to `POST /api/corpora`.")
    ],
) -> Response:
    """Delete a text and its index, given the key that its author got."""
    await services[Indexing].delete(corpus_id, corpus_key)
    return Response(status_code=204)


page_router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@page_router.get("/heads/{model}")
async def heads_page(
    request: Request, services: Opened, model: str, corpus: str = ""
) -> HTMLResponse:
    """Show all heads of a model: a scatter of two measures, and a table."""
    return show_heads(request, services, model, corpus)


@page_router.get("/heads/{model}/{place}/{head}")
async def head_page(
    request: Request, services: Opened, model: str, place: str, head: int, corpus: str = ""
) -> HTMLResponse:
    """Show a head: its patterns, examples, similar heads and a search."""
    return show_head(request, services, model, place, head, corpus)
