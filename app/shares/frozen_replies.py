"""The additional requests of a share or a handout: checks them, and freezes their replies."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from app.engine.jobs import Encoded, Encoding
from app.engine.model_listing import Listing
from app.engine.reply_formats import WRITERS, ZSTD
from app.figures.sentence_states import SentenceState
from app.http.request_fields import within
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import off_loop
from app.shares.formats import Answer
from app.shares.schemas import ParametersRequest, Question
from app.shares.service import thaw
from app.traces.replies import ModelReply
from app.traces.schemas import Asking
from app.traces.service import chosen, example, parameters, run_trace
from app.traces.sweeps import whole_sweep
from model.adapters.requests.model_info import ModelInfo
from model.errors import Excess, InputError
from model.transformer.positions import POSITIONS
from model.transformer.scoring import SCORINGS


class Freezer:
    """Counts the numbers of the replies in a share or a handout, up to a limit."""

    def __init__(self, max_values: int, whole: str = "a share") -> None:
        self.max_values = max_values
        self.left = max_values
        self.whole = whole

    async def keep(self, work: Callable[[Encoding], Awaitable[Encoded]]) -> bytes:
        """Return the stored form of a reply. Raises InputError if there are too many numbers."""
        try:
            encoded = await work(Encoding(ZSTD, self.left))
        except InputError as error:
            if error.kind != "reply-too-large":
                raise
            detail = f"{self.whole} may have at most {self.max_values} numbers"
            excess = Excess(self.max_values, "numbers")
            raise InputError("reply-too-large", "", detail, excess) from error
        self.left -= encoded.values
        return encoded.content


def check_asks(services: Services, asks: Sequence[Question]) -> None:
    """Raise InputError for requests that the settings or the catalog do not allow."""
    for n, question in enumerate(asks):
        for kind, request in question:
            with within(f"asks[{n}].{kind}"):
                if isinstance(request, Asking):
                    chosen(services, request)
                elif request is not None:
                    services[Listing].pick(request.model)


async def freeze_answers(
    services: Services, state: SentenceState, asks: Sequence[Question], freezer: Freezer
) -> list[Answer]:
    """Answer requests besides a state's run, and those for the parameters of its scores.

    Raises what their runs raise, and InputError if there are too many numbers.
    """
    return [
        await _freeze_answer(services, state, question, f"asks[{n}]", freezer)
        for n, question in enumerate([*asks, *_mechanism(services, state)])
    ]


def _mechanism(services: Services, state: SentenceState) -> list[Question]:
    """Return the request for the parameters of the model's scores.

    These are a few numbers per head: w and b of additive scoring, π of relative positions. With
    them and q and k, every weight of the share can be computed after the model is gone.
    """
    name = services[Listing].pick(state.model)
    table = services[Listing].describe(name).attentions
    parts = {part for attention in table for part in attention.scoring.split(" & ")}
    select = []
    if any(SCORINGS[part].learns for part in parts & SCORINGS.keys()):
        select.append("*.scoring.*")
    if any(POSITIONS[part].learns for part in parts & POSITIONS.keys()):
        select.append("*.positions.*")
    request = ParametersRequest(model=name, select=select)
    return [Question(parameters=request)] if select else []


async def _freeze_answer(
    services: Services, state: SentenceState, question: Question, place: str, freezer: Freezer
) -> Answer:
    kind, answer = _answering(services, question)
    with within(f"{place}.{kind}"):
        frozen = await freezer.keep(answer)
    if (other_model := _other_model(services, state, question)) is not None:
        frozen = await off_loop(_described, frozen, other_model, size=len(frozen))
    return Answer(question.model_dump(mode="json", exclude_unset=True), frozen)


def other_models(
    services: Services, state: SentenceState, asks: Sequence[Question]
) -> list[ModelInfo]:
    """Return the models, other than the state's, that requests run."""
    models = list[ModelInfo | None]()
    for n, question in enumerate(asks):
        with within(f"asks[{n}].trace"):
            models.append(_other_model(services, state, question))
    return [model for model in models if model is not None]


def _other_model(services: Services, state: SentenceState, question: Question) -> ModelInfo | None:
    """Return the model that a question runs, if that is not the state's."""
    if question.trace is None:
        return None
    own_model, name = (services[Listing].pick(source.model) for source in (state, question.trace))
    return None if name == own_model else services[Listing].describe(name)


def _described(frozen: bytes, model: ModelInfo) -> bytes:
    """Return a stored reply with the description of the model that made it.

    The reply can then be drawn when that model is gone: its table of attentions says what the rows
    and columns of its tensors are.
    """
    reply = thaw(frozen)
    described = ModelReply.model_validate(model).model_dump()
    whole = replace(reply, document={**reply.document, "described": described})
    return b"".join(WRITERS[ZSTD](whole))


def _answering(
    services: Services, question: Question
) -> tuple[str, Callable[[Encoding], Awaitable[Encoded]]]:
    """Return a request's name in the share, and a function that computes its reply in a format."""
    if (traced := question.trace) is not None:
        return "trace", lambda encoding: run_trace(services, traced, encoding)
    if (request := question.parameters) is not None:
        return "parameters", partial(parameters, services, request.model, request.select)
    if (swept := question.sweep) is not None:
        return "sweep", partial(whole_sweep, services, swept)
    watched = question.learning
    assert watched is not None  # the schema requires one of the four
    return "learning", partial(example, services, watched.model, watched.example)
