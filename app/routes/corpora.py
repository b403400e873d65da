"""POST /api/corpora: texts of readers for the pages about heads, and the routes of one."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Header, Path, Request, Response

from app.answers import corpora
from app.assets.pages import base_url
from app.heads.indexing import Indexing
from app.http.replies import problems, run_problems
from app.http.services import Opened
from app.schemas.corpora import CorpusCreated, CorpusReply, CorpusRequest

router = APIRouter(prefix="/corpora", tags=["models"])

CorpusId = Annotated[
    str, Path(alias="id", description="From the reply to `POST /api/corpora`.", max_length=40)
]


@router.post(
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
    found, key = corpora.create(services, body)
    response.headers["Location"] = request.app.url_path_for("read_corpus", id=found.id)
    response.headers["Cache-Control"] = "no-store"
    path = request.app.url_path_for("heads_page", model=body.model)
    url = f"{base_url(request, services)}{path}?{urlencode({'corpus': found.id})}"
    return CorpusCreated(**corpora.told(found).model_dump(), url=url, key=key)


@router.get(
    "/{id}",
    summary="Read how far a text is indexed",
    responses=problems(_404="No such text, or it has expired."),
)
async def read_corpus(services: Opened, response: Response, corpus_id: CorpusId) -> CorpusReply:
    """Return the state of a text, without its sentences."""
    response.headers["Cache-Control"] = "no-store"
    return corpora.told(services[Indexing].find(corpus_id))


@router.delete(
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
