"""Replies to requests that run a model, or read its parameters or history.

Tables of positional encodings.
"""

import hashlib
from typing import Any

import orjson
from torch.nn.functional import normalize

from app.engine.engine import Engine
from app.engine.jobs import Encoded, Encoding, TraceJob
from app.engine.model_listing import ExampleJob, Listing, ParametersJob
from app.engine.reply_formats import Dtype, Selection, numbers
from app.http.route_dependencies import Services
from app.settings import Settings
from app.traces.schemas import AnyTraceRequest, Asking, OneTextRunRequest, Running, RunRequest
from model.errors import Excess, InputError
from model.trace.tensor_names import check_sizes
from model.transformer.positions import TABLES

TOKEN_CHARACTERS = 16  # of a token, at most, on average over a long text


async def run(
    services: Services,
    body: Running,
    select: list[str],
    encoding: Encoding,
    dtype: Dtype = "float32",
    summarise: list[str] | None = None,
) -> Encoded:
    """Run a sentence and return its reply.

    Raises InputError for bad input and BusyError if the model is busy.
    """
    name = chosen(services, body)
    check_sizes(select)
    check_sizes(summarise or [], "summarise")
    selection = Selection.parse(select)
    request = body.request(list(selection.patterns), summarise or [])
    recorded = {"select": select, "summarise": request.summarise, "dtype": dtype}
    identity = _identity(body, recorded, services[Listing].describe(name).digest)
    return await services[Engine].run(TraceJob(name, request, identity, dtype, encoding, selection))


async def run_trace(services: Services, body: AnyTraceRequest, encoding: Encoding) -> Encoded:
    """Return the reply to a trace request."""
    return await run(services, body, body.select, encoding, body.dtype, body.summarise)


def chosen(services: Services, body: Asking, *, long: bool = False) -> str:
    """Return the id of the requested model.

    Its texts may have the characters of a sentence, or if `long` as many as the tokens that the
    model reads can have: a longer text is refused before it is tokenized.

    Raises InputError if the request exceeds the settings' limits, for a model that is not served,
    and for texts other than those that the model reads.
    """
    settings = services[Settings]
    name = services[Listing].pick(body.model)
    info = services[Listing].describe(name)
    limit = settings.max_text_characters
    if long:
        limit = max(limit, info.max_tokens * TOKEN_CHARACTERS)
        limit = min(limit, settings.max_long_characters)
    check_limits(settings, body, limit)
    texts = info.texts
    field, read = next(iter(body.texts)), texts[0]
    if field != read:
        detail = f"{read} is required: this model reads {' and '.join(texts)}"
        raise InputError("missing", read, detail)
    return name


def check_limits(settings: Settings, body: Asking, limit: int) -> None:
    """Raise InputError for longer texts, or more interventions, than allowed."""
    for field, sent in body.texts.items():
        text = sent or ""
        if len(text) > limit:
            detail = f"{field} has {len(text)} characters; at most {limit} are allowed"
            excess = Excess(limit, "characters", len(text), limit)
            raise InputError("text-too-long", field, detail, excess)
    if len(body.interventions) > settings.max_interventions:
        detail = f"interventions may have at most {settings.max_interventions} entries"
        excess = Excess(settings.max_interventions, "entries", len(body.interventions))
        raise InputError("too-long", "interventions", detail, excess)


def _identity(body: Running, recorded: dict[str, Any], digest: str) -> str:
    """Return a digest of the request in canonical form and of the model."""
    run = RunRequest if isinstance(body, RunRequest) else OneTextRunRequest
    canonical = body.model_dump(include=set(run.model_fields) - {"model"})
    canonical |= {**recorded, "model": digest}
    return hashlib.sha256(orjson.dumps(canonical, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


async def parameters(
    services: Services, name: str | None, select: list[str], encoding: Encoding
) -> Encoded:
    """Return the reply to a request for parameters; None is the first model.

    Raises InputError for a model that is not served, and for a bad pattern.
    """
    check_sizes(select)
    name = services[Listing].pick(name)
    digest = services[Listing].describe(name).digest
    return await services[Engine].run(ParametersJob(name, digest, tuple(select), encoding))


async def example(services: Services, name: str | None, number: int, encoding: Encoding) -> Encoded:
    """Return the reply for a recorded sentence; None is the first model.

    Raises InputError if the model is not served or has no history, and for an unknown example.
    """
    return await services[Engine].run(ExampleJob(services[Listing].pick(name), number, encoding))


def positions_table(variant: str, length: int, d_model: int, limit: int) -> bytes:
    """Return the JSON reply: a table (length, d_model) and cosine similarities (length, length).

    Raises InputError for an unknown variant, and for sizes that are not from 1 to `limit`.
    """
    for field, size in (("length", length), ("d_model", d_model)):
        if not 1 <= size <= limit:
            raise InputError("out-of-range", field, f"{field} must be from 1 to {limit}")
    if variant not in TABLES:
        tables = ", ".join(TABLES)
        raise InputError("unknown-variant", "variant", f"variant must be one of: {tables}")
    table = TABLES[variant](length, d_model)
    unit = normalize(table.double(), dim=-1)
    document = {
        "variant": variant,
        "positions": numbers(table.numpy()),
        "similarity": numbers((unit @ unit.T).float().numpy()),
    }
    return orjson.dumps(document)
