"""Replies to requests that run a model, or read its parameters or history.

Also the requests for a sweep, and the lines of its reply.
"""

import hashlib
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any, cast

import orjson
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag
from torch.nn.functional import normalize

from app.engine.engine import Engine
from app.engine.jobs import Encoded, Encoding, TraceJob
from app.engine.model_listing import ExampleJob, Listing, ParametersJob
from app.engine.reply_formats import Dtype, Reply, Selection, numbers
from app.engine.streamed_replies import SweepJob
from app.http.problems import ProblemReply
from app.http.request_fields import Count, NamePattern, Strict
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import LARGE, off_loop
from app.settings import Settings
from app.traces.interventions import PatchFrom
from app.traces.replies import OneTextReply, OutputReply, PieceReply, TensorReply, TokensReply
from app.traces.schemas import (
    AnyTraceRequest,
    Asking,
    ByTexts,
    OneText,
    OneTextRunRequest,
    Running,
    RunRequest,
    Translation,
)
from model.adapters.requests.request import Patch, read_alike
from model.adapters.sweep_changes import Ablated, Over
from model.errors import Excess, InputError
from model.explain import score_terms
from model.explain.logit_lens import check_contrast_count
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
    score_terms.check_count(selection.patterns)
    check_contrast_count(selection.patterns)
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


def _kind_of_effect(value: Any) -> str:
    return "word" if isinstance(value, str) else "patch"


class Sweeping(Strict):
    """What to change, one part at a time."""

    effect: Annotated[
        Annotated[Ablated, Tag("word")] | Annotated[PatchFrom, Tag("patch")],
        Discriminator(_kind_of_effect),
    ] = Field(
        default="zero",
        description="The effect on each head, or a patch of each part, as in `interventions`. "
        "Without `target` the other sentence reads what this one writes; without `rows` its tokens "
        "are aligned.",
    )
    over: Over = Field(
        default="heads",
        description="The parts to change, one at a time. `heads`: each head, of which a patch "
        "takes the `mix`; `sublayers` (`zero` or a patch): each `output`; `positions` (a patch): "
        "the residual stream after each layer at each token; `pairs` (not a patch): each head, "
        "then each pair of heads.",
    )
    among: list[NamePattern] | None = Field(
        default=None, description="For `pairs`: patterns of the attentions; absent: all of them."
    )
    against: Count | None = Field(
        default=None,
        description="The id of the token that the written one is contrasted with. Absent: for a "
        "patch, what is most probable in the other run, if that is another token; otherwise the "
        "second most probable one.",
    )
    row: Count | None = Field(default=None, description="Report only this row; absent: all rows.")

    def change(self) -> str | Patch:
        """Return the effect as a sweep takes it."""
        return self.effect if isinstance(self.effect, str) else self.effect.value()


class SweepRequest(Translation, Sweeping):
    """A sentence, and what to change in the model that reads it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"source": "The cat sat on the mat."},
                {"source": "The cat sat on the mat.", "target": "猫坐在垫子上。", "row": 3},
                {
                    "source": "My father is a teacher.",
                    "effect": {"patch": {"source": "My mother is a teacher."}},
                },
            ]
        }
    )


class OneTextSweepRequest(OneText, Sweeping):
    """A text, and what to change in the model that reads it."""

    def change(self) -> str | Patch:
        value: str | Patch = super().change()
        return cast(str | Patch, read_alike(value, self.chat, self.pair))


AnySweepRequest = ByTexts[SweepRequest, OneTextSweepRequest]


class AgainstReply(PieceReply):
    """A token that a written one is contrasted with."""

    id: int


class OtherRunReply(BaseModel):
    """The run that a patch takes its values from."""

    tokens: TokensReply | OneTextReply
    contrast: list[float | None] = Field(
        description="log p(written) − log p(against) in that run; null for a row of a single text "
        "that has no counterpart there."
    )
    rows: dict[str, list[tuple[int, int]]] = Field(
        description="Pairs of a row of that run and the row here that it replaces, by text."
    )


class SweepStart(BaseModel):
    """The run before anything is changed."""

    model: str
    direction: str | None = None
    changes: int = Field(description="How many changes there will be.")
    tokens: TokensReply | OneTextReply
    output: OutputReply = Field(description="Output without changes.")
    logprobs: list[float] = Field(
        description="Log-probability of the token that each row predicts, in nats."
    )
    against: list[AgainstReply] = Field(description="The token that each row's is contrasted with.")
    contrast: list[float] = Field(description="log p(written) − log p(against), in nats.")
    candidates: list[list[AgainstReply]] = Field(
        description="For each row, other tokens that are probable: for a patch the five most "
        "probable ones in the other run, then those here."
    )
    other: OtherRunReply | None = Field(default=None, description="For a patch: the other run.")


class HeadReply(BaseModel):
    """A head of an attention."""

    at: str
    head: int | None


class ChangeReply(BaseModel):
    """The effect of one change, with one number per row."""

    at: str = Field(
        examples=["encoder.0.self"], description="The attention; for a patch, the tensor."
    )
    head: int | None
    token: int | None = Field(default=None, description="The row that is patched, if only one is.")
    also: HeadReply | None = Field(default=None, description="Of a pair: the second head.")
    interaction: list[float] | None = Field(
        default=None,
        description="Of a pair: `delta` minus the sum of both alone; below 0: redundant heads.",
    )
    delta: list[float] = Field(description="Change of that token's log-probability, in nats.")
    divergence: list[float] = Field(
        description="KL divergence of the next-token distribution from the original, in nats."
    )
    contrast: list[float] = Field(description="Change of the contrast, in nats.")
    recovered: list[float | None] | None = Field(
        default=None,
        description="For a patch: that change as a share of the difference between both runs; null "
        "if the runs hardly differ (by less than 0.01 nats), or the row has no counterpart.",
    )


class SweepEnd(BaseModel):
    """All changes are done."""


class SweepLine(BaseModel):
    """A line of the stream: `start`, then `changes` with `done`, then `end`; or `error`."""

    start: SweepStart | None = None
    changes: list[ChangeReply] | None = None
    done: int | None = Field(default=None, description="Changes done so far.")
    end: SweepEnd | None = None
    error: ProblemReply | None = None


class SweepReply(BaseModel):
    """All lines of a sweep, as a share stores them."""

    model: str
    lines: list[SweepLine]
    tensors: dict[str, TensorReply] = Field(description="Always empty.")


def sweep_job(services: Services, body: AnySweepRequest) -> SweepJob:
    """Return the job of a sweep. Raises InputError for bad input."""
    name = chosen(services, body)
    request = replace(body.asked(), target=body.texts.get("target"))
    among = None if body.among is None else tuple(body.among)
    change = body.change()
    return SweepJob(name, request, change, body.row, body.over, body.against, among)


async def whole_sweep(services: Services, body: AnySweepRequest, encoding: Encoding) -> Encoded:
    """Return all lines of a sweep as one reply, a document without tensors: ``{"lines": […]}``.

    Raises what a streamed sweep raises, and InputError as soon as the lines have more numbers than
    the limit.
    """
    job = sweep_job(services, body)
    lines, values = list[dict[str, Any]](), 0
    async with aclosing(services[Engine].stream(job)) as stream:
        async for line in stream:
            lines.append(orjson.loads(line))
            values += _numbers(lines[-1])
            if values > encoding.limit:
                detail = f"the sweep has more than {encoding.limit} numbers"
                raise InputError("reply-too-large", "", detail, Excess(encoding.limit, "numbers"))
    reply = Reply({"model": job.model, "lines": lines, "tensors": {}}, {})
    return replace(await off_loop(encoding, reply, size=LARGE), values=values)


def _numbers(line: dict[str, Any]) -> int:
    """Return how many numbers the effects in a line have."""
    effects = line.get("changes", [])
    return sum(
        len(value) for effect in effects for value in effect.values() if isinstance(value, list)
    )
