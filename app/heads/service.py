"""What heads do over many sentences: surveys, examples, and rows that are searched for."""

from collections.abc import Mapping
from typing import Any

from app.engine.model_listing import Listing
from app.heads import corpora
from app.heads.corpora import Corpora
from app.heads.schemas import (
    AddedReply,
    ElsewhereReply,
    FoundRow,
    FoundRowsReply,
    FoundToken,
    HeadExample,
    HeadExamplesReply,
    HeldReply,
    IndexedSentence,
    SimilarReply,
    SurveyedHeadReply,
    SurveyReply,
    WritesReply,
)
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import off_loop
from model.corpus.row_index import Index, read_survey
from model.corpus.row_patterns import patterns_of
from model.corpus.row_search import Row, RowQuery, search, tenths
from model.errors import InputError
from model.trace.attentions import CROSS, AttentionInfo

Shares = Mapping[str, float | None]  # of rows, by pattern
SIMILAR = 5  # heads of other models
LARGEST = "largest"  # a ranking by the mean of the rows' largest weights


def survey(services: Services, name: str, corpus: str = "") -> SurveyReply:
    """Return what all heads of a model do, over a reader's text if one is named.

    Raises a 404 ProblemError if that is not known.
    """
    served(services, name)
    if corpus:
        text = corpora.done(services, name, corpus)
        document = read_survey(text.folder, text.about["digest"])
    else:
        document = services[Corpora].survey(name)
    if document is None:
        raise ProblemError(404, "no-survey", "the heads of this model have not been measured")
    index = corpora.index(services, name, corpus)
    heads = [_head(head) for head in document["heads"]]
    return SurveyReply(**{**document, "heads": heads}, indexed=len(index) if index else 0)


async def examples(
    services: Services, name: str, place: str, head: int, by: str, corpus: str = ""
) -> HeadExamplesReply:
    """Return sentences at each tenth of a ranking. Raises what `found_rows` raises."""
    index = _index(services, name, corpus)
    _allowed(_attention(services, name, place, head), "by", by, LARGEST)
    pattern = "" if by == LARGEST else by
    ranked = await off_loop(tenths, index, place, head, pattern)
    return HeadExamplesReply(
        by=by,
        examples=[HeadExample(sentence=_sentence(index, n), value=value) for n, value in ranked],
    )


async def found_rows(
    services: Services, name: str, row_query: RowQuery, max_rows: int, corpus: str = ""
) -> FoundRowsReply:
    """Search the rows of a head.

    Raises a 404 ProblemError for an unknown model or head, or if there is no index, and InputError
    for a pattern that the head cannot have.
    """
    index = _index(services, name, corpus)
    attention = _attention(services, name, row_query.place, row_query.head)
    _allowed(attention, "pattern", row_query.pattern, "")
    if row_query.distance and attention.kind == CROSS:
        detail = "distance: between two texts there is no distance"
        raise InputError("unsupported", "distance", detail)
    result = await off_loop(search, index, row_query, max_rows)
    return FoundRowsReply(
        rows=result.rows,
        sentences=result.sentences,
        of=len(index),
        found=[_row(index, row_query.place, row) for row in result.best],
    )


def elsewhere(services: Services, name: str, place: str, head: int) -> list[ElsewhereReply]:
    """Return the heads of other models whose patterns hold about as often, the nearest first.

    Only heads of the same kind and mask are compared, and not their rows, since tokens differ
    between models. Raises a 404 ProblemError for a head that is not known.
    """
    model_compared = services[Listing][served(services, name)]
    kind = _kind(_attention(services, name, place, head))
    heads = {
        (own_head.place, own_head.head): own_head.patterns
        for own_head in survey(services, name).heads
    }
    similar = []
    for other_id, info in services[Listing].items():
        document = services[Corpora].survey(other_id)
        if document is None or info.digest == model_compared.digest:
            continue
        alike = {attention.place for attention in info.attentions if _kind(attention) == kind}
        for other_head in map(_head, document["heads"]):
            if other_head.place in alike:
                similar.append(
                    ElsewhereReply(
                        model=other_id,
                        name=info.name,
                        place=other_head.place,
                        head=other_head.head,
                        difference=_difference(heads[place, head], other_head.patterns),
                        described=other_head.described,
                    )
                )
    return sorted(similar, key=lambda reply: reply.difference)[:SIMILAR]


def in_general(services: Services, name: str) -> dict[str, list[list[tuple[str, float]]]]:
    """Return the patterns that describe each head of a model, by attention; {} if not measured."""
    by_place: dict[str, list[list[tuple[str, float]]]] = {}
    for head in (services[Corpora].survey(name) or {"heads": []})["heads"]:
        by_place.setdefault(head["place"], []).append(
            [(pattern, share) for pattern, share in head["described"]]
        )
    return by_place


def served(services: Services, name: str) -> str:
    """Return the id of a model. Raises a 404 ProblemError if it is not served."""
    if name not in services[Listing]:
        detail = f"id: {services[Listing].absent(name)}"
        raise ProblemError(404, "unknown-model", detail, field="id")
    return name


def _kind(attention: AttentionInfo) -> tuple[str, str]:
    return attention.kind, attention.mask


def _difference(mine: Shares, theirs: Shares) -> float:
    pairs = [(share, theirs.get(name)) for name, share in mine.items()]
    differences = [
        abs(share - their_share)
        for share, their_share in pairs
        if share is not None and their_share is not None
    ]
    return sum(differences) / len(differences) if differences else 1.0


def _index(services: Services, name: str, corpus: str) -> Index:
    served(services, name)
    index = corpora.index(services, name, corpus)
    if index is None:
        raise ProblemError(404, "no-index", "no sentences have been indexed for this model")
    return index


def _attention(services: Services, name: str, place: str, head: int) -> AttentionInfo:
    for attention in services[Listing][name].attentions:
        if attention.place == place and 0 <= head < attention.heads:
            return attention
    raise ProblemError(404, "unknown-head", "this model has no such head", field="head")


def _allowed(attention: AttentionInfo, field: str, pattern: str, otherwise: str) -> None:
    allowed = (otherwise, *patterns_of(attention.kind == CROSS))
    if pattern not in allowed:
        words = ", ".join(filter(None, allowed))
        raise InputError("unknown-value", field, f"{field} must be one of: {words}")


def _head(document: dict[str, Any]) -> SurveyedHeadReply:
    patterns = [HeldReply(pattern=name, share=share) for name, share in document["described"]]
    similar = [
        SimilarReply(place=place, head=head, divergence=divergence)
        for place, head, divergence in document["similar"]
    ]
    writes = [
        WritesReply(
            token=written["token"],
            rows=written["rows"],
            adds=[AddedReply(token=token, logit=logit) for token, logit in written["adds"]],
        )
        for written in document.get("writes", [])
    ]
    return SurveyedHeadReply(
        **{**document, "described": patterns, "similar": similar, "writes": writes}
    )


def _row(index: Index, place: str, row: Row) -> FoundRow:
    query, key = index.axes[place]
    return FoundRow(
        sentence=_sentence(index, row.sentence),
        query=_token(index, query, row.sentence, row.query),
        key=_token(index, key, row.sentence, row.key),
        weight=row.weight,
    )


def _sentence(index: Index, number: int) -> IndexedSentence:
    return IndexedSentence(**index.sentence(number))


def _token(index: Index, text: str, sentence: int, position: int) -> FoundToken:
    number = index.tokens(text)[index.starts(text)[sentence] + position]
    return FoundToken(index=position, text=index.vocabulary[int(number)])
