"""What explains a run of a model of `transformers`: the tensors `inside.…`, and what they need.

How logits are computed from the output of a stack is found by comparing numbers; how attentions
compute their scores follows from their parameters. Then lens, contributions, relevance and sources
are computed as for this project's own models.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.adapters.huggingface.attention_probing import Layout
from model.adapters.huggingface.batch_rows import RequestRow
from model.adapters.huggingface.forward_passes import Encoded, Forward
from model.adapters.huggingface.parameters import (
    OFFSETS,
    Calculation,
    Network,
    Parameter,
    all_parameters,
    calculations,
    networks,
    norms_before,
)
from model.adapters.huggingface.projections import Projection, Projections, Rotation
from model.adapters.huggingface.stream_hooks import install_hooks, names_of
from model.adapters.huggingface.stream_modules import (
    FFN,
    Anatomy,
    ModuleCall,
    Term,
    anatomies,
    close,
    norm_of,
)
from model.adapters.huggingface.unsupported_models import input_embeddings
from model.adapters.requests.model_info import ModelInfo
from model.explain import logit_lens, nearest_tokens, score_terms
from model.explain.attribution import SourceRun, attribute
from model.explain.attribution import names as attribution_names
from model.explain.relevance import names as relevance_names
from model.explain.relevance import relevance
from model.explain.residual_stream import Norm, Reader, Stack, Stream, Sublayer
from model.explain.score_terms import Scores, Side
from model.text.tokens import Token
from model.trace.attentions import SELF, AttentionInfo
from model.trace.tensor_names import ATTRIBUTIONS
from model.trace.tensor_tap import SOURCE, TARGET, Recorder, Tap

SAME = 1e-3  # of a scale


@dataclass(frozen=True, eq=False)
class LinearHead:
    """logits(y) = cap(y Wᵀ · scale + bias)."""

    matrix: Tensor
    bias: Tensor | None
    scale: float
    cap: float | None

    def __call__(self, y: Tensor) -> Tensor:
        """Return logits (…, V) of states (…, D)."""
        logits = F.linear(y * self.scale, self.matrix, self.bias)  # nothing else of that size
        return logits if self.cap is None else (logits / self.cap).tanh() * self.cap


def stream_of(model: Any, anatomy: Anatomy, logits: Tensor) -> Stream | None:
    """Return a stack as a `Stream`, given the logits (N, V) of the probe; None if it is unknown."""
    ends = [None, *_ends(anatomy)]
    for end in ends:
        if linear := _linear(model, _after_end(anatomy, end), logits):
            return _stream(model, anatomy, end, linear)
    for end in ends:
        if read := _through(model, anatomy, _after_end(anatomy, end), logits):
            return _stream(model, anatomy, end, read)
    return None


def stack_of(anatomy: Anatomy) -> Stack | None:
    """Return a stack with what follows it, if all its norms are known and its output is read."""
    if not all(_summed(term) for layer in anatomy.terms for term in layer):
        return None
    end = next((call for call in anatomy.seen if call.module is anatomy.last), None)
    return Stack(
        stack=anatomy.stack,
        text=anatomy.text,
        layers=tuple(tuple(map(_sublayer, layer)) for layer in anatomy.terms),
        last=None if end is None else norm_of(end),
    )


def returns_last_output(anatomy: Anatomy) -> bool:
    """Return whether what a stack returns is its last output, through a known norm or as it is."""
    if anatomy.last is None:
        return close(anatomy.output, anatomy.logits)
    return any(call.module is anatomy.last and norm_of(call) for call in anatomy.seen)


def _after_end(anatomy: Anatomy, end: ModuleCall | None) -> Tensor:
    return anatomy.output if end is None else end.output


def _stream(
    model: Any, anatomy: Anatomy, end: ModuleCall | None, read: Callable[[Tensor], Tensor]
) -> Stream:
    last = None if end is None else norm_of(end)
    head = read if isinstance(read, LinearHead) else None
    exact = head is not None and head.cap is None and (end is None or last is not None)
    return Stream(
        stack=anatomy.stack,
        text=anatomy.text,
        layers=tuple(tuple(map(_sublayer, layer)) for layer in anatomy.terms),
        matrix=model.get_output_embeddings().weight,
        logits=_after(None if end is None else end.module, read),
        last=last,
        bias=head.bias if head else None,
        scale=head.scale if head else 1.0,
        exact=exact and all(_known(term) for layer in anatomy.terms for term in layer),
    )


def _sublayer(term: Term) -> Sublayer:
    # A norm of the sum that is unknown stands for one, since nothing exact is computed then.
    post = term.post_norm
    if term.post is not None and post is None:
        post = Norm(term.output.weight, None, 0.0)  # type: ignore[arg-type]
    return Sublayer(term.name, term.bias, term.W_o, term.own, post)


def _known(term: Term) -> bool:
    heads = term.name == FFN or term.W_o is not None
    return heads and _summed(term)


def _summed(term: Term) -> bool:
    return term.post is None or term.post_norm is not None


def _ends(anatomy: Anatomy) -> Iterator[ModuleCall]:
    """Yield the calls that read the last layer's output and keep its shape."""
    for call in anatomy.seen:
        keeps_shape = call.read.shape == call.output.shape == anatomy.output.shape
        if keeps_shape and close(call.read, anatomy.output):
            yield call


def _linear(model: Any, y: Tensor, logits: Tensor) -> LinearHead | None:
    out = model.get_output_embeddings()
    final_bias = getattr(model, "final_logits_bias", None)
    bias = out.bias if getattr(out, "bias", None) is not None else final_bias
    bias = None if bias is None or not bool(bias.any()) else bias.reshape(-1)
    cap = getattr(model.config.get_text_config(), "final_logit_softcapping", None)
    if y.shape[-1] != out.weight.shape[-1]:
        return None
    raw = y @ out.weight.T
    if raw.shape != logits.shape:  # what it writes is not what this head computes
        return None
    unbiased = logits if bias is None else logits - bias
    fitted = float((unbiased * raw).sum() / raw.square().sum())
    for scale, capped in ((1.0 if abs(fitted - 1) < SAME else fitted, None), (1.0, cap)):
        head = LinearHead(out.weight, bias, scale, capped)
        if close(head(y), logits):
            return head
    return None


def _through(
    model: Any, anatomy: Anatomy, y: Tensor, logits: Tensor
) -> Callable[[Tensor], Tensor] | None:
    """Return a head that is more than a matrix, such as that of BERT."""
    for call in anatomy.seen:
        if not close(call.read, y):
            continue
        if close(call.output, logits):
            return _called(call.module)
        if call.output.shape == y.shape and (linear := _linear(model, call.output, logits)):
            return _after(call.module, linear)
    return None


def _called(module: nn.Module) -> Callable[[Tensor], Tensor]:
    return lambda x: module(x[None])[0]


def _after(
    module: nn.Module | None, read: Callable[[Tensor], Tensor]
) -> Callable[[Tensor], Tensor]:
    if module is None:
        return read
    return lambda x: read(module(x[None])[0])


Read = tuple[Stack, Reader | None, Norm | None]


def scores_of(
    anatomies: Sequence[Anatomy], calculations: Mapping[str, Calculation]
) -> dict[str, Scores]:
    """Return the scores of each attention, by place, for which all that they are made of is known.

    Not of those with a soft cap: they are not a sum.
    """
    scores_by_place: dict[str, Scores] = {}
    memory: Read | None = None
    for anatomy in anatomies:
        if (stack := stack_of(anatomy)) is None:
            continue
        for index, terms in enumerate(anatomy.terms):
            for order, term in enumerate(terms):
                place = f"{anatomy.stack}.{index}.{term.name}"
                if term.name == FFN or (projections := calculations[place].projections) is None:
                    continue
                before = None if projections.before is None else norm_of(projections.before)
                reads = stack, (index, order), before
                keys = reads if term.name == SELF else memory
                if keys and (scores := _scores(calculations[place], projections, reads, keys)):
                    scores_by_place[place] = scores
        if anatomy.text == SOURCE:
            memory = (stack, None, None) if returns_last_output(anatomy) else None
    return scores_by_place


def _scores(
    calculation: Calculation, projections: Projections, query: Read, key: Read
) -> Scores | None:
    call, pi = calculation.call, calculation.parameters.get("pi")
    added = call.bias is not None and bool(call.bias.any())
    if call.cap is not None or (added and pi is None):
        return None
    heads, groups = call.q.shape[1], call.k.shape[1]
    return Scores(
        query=_side("q", projections.q, query, heads, 1, projections.rotation),
        key=_side("k", projections.k, key, groups, heads // groups, projections.rotation),
        scale=call.scale,
        offset=None if pi is None else partial(_offset, pi),
    )


def _side(
    letter: str,
    projection: Projection,
    read: Read,
    count: int,
    share: int,
    rotation: Rotation | None,
) -> Side:
    stack, reader, before = read

    def of(values: Tensor, head: int) -> Tensor:
        """Return the columns of a head of values (…, H · d)."""
        width = values.shape[-1] // count
        return values[..., head * width : (head + 1) * width]

    return Side(
        stack=stack,
        reader=reader,
        letter=letter,
        matrix=lambda head: of(projection.W, head),
        bias=lambda head: None if projection.b is None else of(projection.b, head),
        share=share,
        before=before,
        norm=None if projection.norm is None else norm_of(projection.norm),
        turn=None
        if rotation is None
        else lambda terms, position: rotation(terms[:, None], position)[:, 0],
    )


def _offset(pi: Parameter, head: int, query: int, key: int) -> float:
    column = min(max(key - query, -OFFSETS), OFFSETS) + OFFSETS
    return float(pi[1]()[head, column])


EMBEDDING = f"{SOURCE}.embedding"
WITH_FEATURES = 2  # dims of a table with a row for each token


class InsideTensors:
    """Computes the `inside.…` tensors that a model supports."""

    def __init__(self, model: Any, layout: Layout, forward: Forward, writes: bool) -> None:
        self.model = model
        self.forward = forward
        self.stream: Stream | None = None
        self.places = [attention.place for attention in layout.attentions]
        self.table = _table(model)
        self.traced = writes and layout.route == "recorded"
        with torch.inference_mode():
            stacks = list(anatomies(model, layout))
            if stacks and writes:
                self.stream = stream_of(model, stacks[-1], stacks[-1].logits)
            self.calculations: dict[str, Calculation] = calculations(model, stacks)
            self.scores = scores_of(stacks, self.calculations)
            self.networks: dict[str, Network] = networks(stacks)
        befores = norms_before(self.calculations, self.networks)
        install_hooks(stacks, befores, self.networks)
        for stack in stacks:
            forward.streamed |= names_of(stack, befores, self.networks)
        self.positions = _positions(model, stacks[0].position is not None if stacks else False)
        self.norm = "post" if stacks and stacks[0].terms[0][0].post is not None else "pre"

    def capabilities(self, kind: str) -> set[str]:
        """Return the capabilities of a model of this kind."""
        able = set[str]()
        if self.stream is not None:
            able |= {"lens", "contributions"} if self.stream.exact else {"lens"}
        if self.forward.layout.route == "recorded":
            able |= {"worksheet", "mean"}
        if self.scores:
            able.add("scores")
        if self.parameters():
            able.add("parameters")
        # What a masked model fills in is not a text whose probability it could give.
        if self.traced and kind != "encoder":
            able.add("relevance")
        if self.traced and EMBEDDING in self.forward.streamed:
            able.add("attribution")
        return able

    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters of all attentions and networks by full name."""
        return all_parameters(self.calculations) | all_parameters(self.networks)

    def described(self, attention: AttentionInfo) -> AttentionInfo:
        """Return an attention's description with what is known of its calculation."""
        calculation = self.calculations.get(attention.place)
        return attention if calculation is None else calculation.described(attention)

    def names(self, info: ModelInfo, recorded: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return the names that can be selected, with their dims."""
        names: dict[str, tuple[str, ...]] = {}
        if self.stream is not None:
            names |= logit_lens.names(self.stream, recorded)
        if "relevance" in info.capabilities:
            names |= relevance_names(self.places)
        if "attribution" in info.capabilities:
            names |= attribution_names()
        if self.table is not None:
            names |= nearest_tokens.NAMES
        return names

    def contrasts(
        self, info: ModelInfo, recorded: Collection[str], patterns: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        """Return the contrasts that patterns name, with their dims."""
        if self.stream is None:
            return {}
        places = self.places if "relevance" in info.capabilities else []
        return logit_lens.contrast_names(logit_lens.parts(self.stream, recorded), places, patterns)

    def needed(self, selected: Sequence[str]) -> set[str]:
        """Return the tensors to record for the selected ones."""
        recorded = score_terms.needed(self.scores, selected) & self.forward.names().keys()
        return (
            recorded if self.stream is None else recorded | logit_lens.needed(self.stream, selected)
        )

    def look(
        self,
        recorders: Sequence[Recorder],
        rows: Sequence[RequestRow],
        predicted: Sequence[Sequence[int]],
    ) -> None:
        """Add the selected tensors to each recorder; row i of a text predicts `predicted[i]`."""
        if self.stream is not None:
            logit_lens.look(self.stream, recorders, predicted)
        for recorder, row, ids in zip(recorders, rows, predicted, strict=True):
            alone = self._alone(row)
            relevance(partial(alone, 1), recorder, ids)
            if not ATTRIBUTIONS.isdisjoint(recorder.select):
                words = torch.tensor([not token.special for token in row.texts[SOURCE]])
                width = self.model.config.get_text_config().vocab_size
                words = words.to(self.model.device)
                attribute(SourceRun(alone, lambda logits: logits, width, recorder, ids, words))

    def look_at_embeddings(self, recorder: Recorder, texts: Mapping[str, Sequence[Token]]) -> None:
        """Add the tokens that are nearest to those of the first text, if selected."""
        if self.table is not None:
            text, tokens = next(iter(texts.items()))
            nearest_tokens.look(self.table, recorder, text, tokens)

    def _alone(self, row: RequestRow) -> Callable[[int, Tap], Tensor]:
        """Return a function that runs copies of a row, padded as it is; it returns logits."""

        def given(text: str, count: int) -> tuple[Tensor, Tensor]:
            ids = torch.tensor([row.ids(text)], device=self.model.device)
            real = torch.arange(ids.shape[1], device=ids.device)[None] < row.own[text]
            return ids.expand(count, -1), real.expand(count, -1)

        def run(count: int, tap: Tap) -> Tensor:
            if TARGET not in row.texts:
                [text] = row.texts
                return self.forward.read(*given(text, count), tap)
            read: Encoded = self.forward.encode(*given(SOURCE, count), tap)
            return self.forward.decode(read, *given(TARGET, count), tap)

        return run


def _table(model: Any) -> Tensor | None:
    """Return the embedding table (V, D) of the first text, if the model has a plain one."""
    table = getattr(input_embeddings(model), "weight", None)
    plain = isinstance(table, Tensor) and table.ndim == WITH_FEATURES and table.is_floating_point()
    return table if plain else None


def _positions(model: Any, learned: bool) -> str:
    """Return what tells the model the order of tokens, as far as it is known."""
    if learned:
        return "learned"
    rotary = any("Rotary" in type(part).__name__ for part in model.modules())
    return "rotary" if rotary else "none"
