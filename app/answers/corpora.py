"""Texts of readers: added, followed and deleted."""

from datetime import UTC, datetime

from app.engine.clients import asking
from app.engine.engine import Engine
from app.engine.model_listing import Listing
from app.heads.corpora import Corpora
from app.heads.index_process import check, sentences_of
from app.heads.indexing import Indexing, Kept
from app.http.problems import ProblemError
from app.http.services import Services
from app.schemas.corpora import CorpusReply, CorpusRequest
from app.settings import Settings
from model.corpus.index import Index
from model.errors import Excess, InputError

START = 100_000.0  # cost of a text, in units of work: its process imports and opens the model
SENTENCE = 200.0  # cost of a sentence: about a second of a core for a hundred


def create(services: Services, wanted: CorpusRequest) -> tuple[Kept, str]:
    """Add a text to the queue; return it and its key.

    Raises InputError for a text beyond the limits, SpentError, and what `Indexing.start` raises.
    """
    client = asking.get()
    services[Indexing].admit(client)
    settings = services[Settings]
    path = {**settings.zoo_bundles, **settings.bundles}.get(wanted.model)
    if wanted.model not in services[Listing] or path is None:
        detail = f"model: {services[Listing].absent(wanted.model)}"
        raise InputError("unknown-model", "model", detail)
    most = settings.max_corpus_characters
    if len(wanted.text) > most:
        detail = f"text has {len(wanted.text)} characters; it may have at most {most}"
        excess = Excess(most, "characters", len(wanted.text))
        raise InputError("too-many-characters", "text", detail, excess)
    lines = sentences_of(wanted.text, wanted.split)
    languages = services[Listing][wanted.model].languages
    check(lines, settings.max_corpus_sentences, settings.max_text_characters, len(languages) == 2)
    services[Engine].charge(START + SENTENCE * len(lines))
    digest = services[Listing][wanted.model].digest
    return services[Indexing].start(
        wanted.model, path, digest, tuple(lines), wanted.title.strip(), client
    )


def told(found: Kept) -> CorpusReply:
    """Return what is known of a text."""
    about, state = found.about, found.state
    count = state.get("sentences", 0)
    return CorpusReply(
        id=found.id,
        model=about["model"],
        title=about["title"],
        given=about["given"],
        state=state["state"],
        done=state.get("done", count),
        of=state.get("of", count),
        why=state.get("why"),
        created=_time(about["created"]),
        expires=_time(found.expires),
    )


def of_model(services: Services, name: str, corpus: str) -> Kept:
    """Return a text that is done, of a model. Raises a 404 ProblemError if there is none.

    A text that was indexed with other weights of the model counts as expired.
    """
    found = services[Indexing].find(corpus)
    if found.about["model"] != name or found.about["digest"] != services[Listing][name].digest:
        detail = "corpus: this text was indexed for another model"
        raise ProblemError(404, "unknown-corpus", detail, field="corpus")
    return found


def index(services: Services, name: str, corpus: str) -> Index | None:
    """Return the index of a model's own sentences, or of a reader's text if one is named.

    Raises what `done` raises.
    """
    if not corpus:
        return services[Corpora].index(name)
    return services[Corpora].opened(done(services, name, corpus).folder)


def done(services: Services, name: str, corpus: str) -> Kept:
    """Return a text as `of_model` does. Raises a 404 ProblemError if it is not indexed (yet)."""
    found = of_model(services, name, corpus)
    if found.state["state"] != "done":
        detail = "corpus: this text is not indexed; GET /api/corpora/{id} says how far it is"
        raise ProblemError(404, "no-index", detail, field="corpus")
    return found


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
