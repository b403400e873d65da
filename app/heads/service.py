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
from app.http.services import Services
from app.http.worker_threads import off_loop
from model.corpus.index import Index, read_survey
from model.corpus.row_patterns import patterns_of
from model.corpus.search import Row, RowQuery, search, tenths
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
        kept = corpora.done(services, name, corpus)
        found = read_survey(kept.folder, kept.about["digest"])
    else:
        found = services[Corpora].survey(name)
    if found is None:
        raise ProblemError(404, "no-survey", "the heads of this model have not been measured")
    index = corpora.index(services, name, corpus)
    heads = [_head(one) for one in found["heads"]]
    return SurveyReply(**{**found, "heads": heads}, indexed=len(index) if index else 0)


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
    services: Services, name: str, asked: RowQuery, most: int, corpus: str = ""
) -> FoundRowsReply:
    """Search the rows of a head.

    Raises a 404 ProblemError for an unknown model or head, or if there is no index, and InputError
    for a pattern that the head cannot have.
    """
    index = _index(services, name, corpus)
    one = _attention(services, name, asked.place, asked.head)
    _allowed(one, "pattern", asked.pattern, "")
    if asked.distance and one.kind == CROSS:
        detail = "distance: between two texts there is no distance"
        raise InputError("unsupported", "distance", detail)
    found = await off_loop(search, index, asked, most)
    return FoundRowsReply(
        rows=found.rows,
        sentences=found.sentences,
        of=len(index),
        found=[_row(index, asked.place, row) for row in found.best],
    )


def elsewhere(services: Services, name: str, place: str, head: int) -> list[ElsewhereReply]:
    """Return the heads of other models whose patterns hold about as often, the nearest first.

    Only heads of the same kind and mask are compared, and not their rows, since tokens differ
    between models. Raises a 404 ProblemError for a head that is not known.
    """
    own = services[Listing][served(services, name)]
    kind = _kind(_attention(services, name, place, head))
    heads = {(one.place, one.head): one.patterns for one in survey(services, name).heads}
    found = []
    for other, info in services[Listing].items():
        told = services[Corpora].survey(other)
        if told is None or info.digest == own.digest:
            continue
        alike = {one.place for one in info.attentions if _kind(one) == kind}
        for one in map(_head, told["heads"]):
            if one.place in alike:
                found.append(
                    ElsewhereReply(
                        model=other,
                        name=info.name,
                        place=one.place,
                        head=one.head,
                        difference=_difference(heads[place, head], one.patterns),
                        described=one.described,
                    )
                )
    return sorted(found, key=lambda one: one.difference)[:SIMILAR]


def in_general(services: Services, name: str) -> dict[str, list[list[tuple[str, float]]]]:
    """Return the patterns that describe each head of a model, by attention; {} if not measured."""
    found: dict[str, list[list[tuple[str, float]]]] = {}
    for one in (services[Corpora].survey(name) or {"heads": []})["heads"]:
        found.setdefault(one["place"], []).append(
            [(held, share) for held, share in one["described"]]
        )
    return found


def served(services: Services, name: str) -> str:
    """Return the id of a model. Raises a 404 ProblemError if it is not served."""
    if name not in services[Listing]:
        detail = f"id: {services[Listing].absent(name)}"
        raise ProblemError(404, "unknown-model", detail, field="id")
    return name


def _kind(one: AttentionInfo) -> tuple[str, str]:
    return one.kind, one.mask


def _difference(mine: Shares, theirs: Shares) -> float:
    pairs = [(share, theirs.get(name)) for name, share in mine.items()]
    both = [abs(share - other) for share, other in pairs if share is not None and other is not None]
    return sum(both) / len(both) if both else 1.0


def _index(services: Services, name: str, corpus: str) -> Index:
    served(services, name)
    index = corpora.index(services, name, corpus)
    if index is None:
        raise ProblemError(404, "no-index", "no sentences have been indexed for this model")
    return index


def _attention(services: Services, name: str, place: str, head: int) -> AttentionInfo:
    for one in services[Listing][name].attentions:
        if one.place == place and 0 <= head < one.heads:
            return one
    raise ProblemError(404, "unknown-head", "this model has no such head", field="head")


def _allowed(one: AttentionInfo, field: str, pattern: str, otherwise: str) -> None:
    known = (otherwise, *patterns_of(one.kind == CROSS))
    if pattern not in known:
        words = ", ".join(filter(None, known))
        raise InputError("unknown-value", field, f"{field} must be one of: {words}")


def _head(told: dict[str, Any]) -> SurveyedHeadReply:
    held = [HeldReply(pattern=name, share=share) for name, share in told["described"]]
    similar = [
        SimilarReply(place=place, head=head, divergence=divergence)
        for place, head, divergence in told["similar"]
    ]
    writes = [
        WritesReply(
            token=one["token"],
            rows=one["rows"],
            adds=[AddedReply(token=token, logit=logit) for token, logit in one["adds"]],
        )
        for one in told.get("writes", [])
    ]
    return SurveyedHeadReply(**{**told, "described": held, "similar": similar, "writes": writes})


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


def _token(index: Index, text: str, sentence: int, at: int) -> FoundToken:
    number = index.tokens(text)[index.starts(text)[sentence] + at]
    return FoundToken(index=at, text=index.vocabulary[int(number)])
