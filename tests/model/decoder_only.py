"""Models of one text behind the `Adapter` interface: tiny and random, made of our own parts.

A decoder reads `<bos>` and the pieces with a causal mask, and continues the text. An
encoder reads the same text without a mask, and writes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Decoding, Trace, candidates
from model.adapters.requests.validate import check_decode, check_interventions, check_range
from model.decode.beam_search import beam
from model.decode.decoding_steps import SearchStep
from model.decode.greedy_and_sampling import Draw, Predictor, sample
from model.errors import InputError
from model.explain.patterns import needed, summary
from model.text.tokens import BOS, PAD, Token, Tokenizer
from model.trace.attentions import CAUSAL, PADDING, SCALED_DOT, SELF, AttentionInfo
from model.trace.tensor_names import select
from model.trace.tensor_tap import (
    FEATURE,
    NULL,
    QUERY,
    RANK,
    VOCAB,
    BatchTap,
    NamedTensor,
    NameTap,
    Recorder,
    Tap,
)
from model.transformer import masks
from model.transformer.config import ModelConfig
from model.transformer.layers import EncoderLayer
from model.transformer.positions import POSITIONS, Order
from tests.model.conftest import TEXTS

TEXT = "text"


Kind = Literal["decoder", "encoder"]


class OneStack(nn.Module):
    """A stack of self-attention and feed-forward over one text."""

    def __init__(self, config: ModelConfig, kind: str) -> None:
        super().__init__()
        self.config = config
        self.kind = kind
        self.mask = CAUSAL if kind == "decoder" else PADDING
        self.rule = masks.named(self.mask)
        self.positions = POSITIONS[config.positions](
            config.max_tokens, config.d_model, config.heads
        )
        self.embedding = nn.Embedding(config.vocabulary, config.d_model)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        for parameter in self.parameters():  # no zero bias and no unit gain
            nn.init.normal_(parameter, std=0.3)

    def forward(self, ids: Tensor, real: Tensor, tap: Tap = NULL) -> Tensor:
        """`ids` and `real` (B, N) -> logits (B, N, V)."""
        own = tap.at(TEXT, query=TEXT)
        scaled = self.embedding(ids) * math.sqrt(self.config.d_model)
        embedding = own("embedding", scaled, (QUERY, FEATURE))
        order = Order.of(self.positions, ids)
        x = own("input", order.at_input(embedding, own), (QUERY, FEATURE))
        stack = tap.at(self.kind, query=TEXT, key=TEXT)
        mask = masks.allowed(self.rule, real, order.queries, order.keys)
        for index, layer in enumerate(self.layers):
            x = layer(x, mask, order, stack.at(str(index)))
        if self.mask == PADDING:
            return x
        logits = stack("logits", x @ self.embedding.weight.T, (QUERY, VOCAB))
        if stack.wants("probabilities") or stack.wants("candidates"):
            top = logits.softmax(dim=-1).topk(10)
            stack("probabilities", top.values, (QUERY, RANK))
            stack("candidates", top.indices, (QUERY, RANK))
        return logits


class GoingOn(Predictor):
    """Reads the whole text again at each step."""

    def __init__(self, model: OneStack, ids: Sequence[int], tap: Tap) -> None:
        self.model = model
        self.tap = tap
        self.read = torch.tensor([ids])

    def logprobs(self) -> Tensor:
        real = torch.ones_like(self.read, dtype=torch.bool)
        with torch.inference_mode():
            logits: Tensor = self.model(self.read, real, self.tap)[:, -1]
        return logits.log_softmax(-1)

    def append(self, ids: Tensor, rows: Tensor | None = None) -> None:
        if rows is not None:
            self.read, self.tap = self.read[rows], self.tap.keep(rows.tolist())
        self.read = torch.cat([self.read, ids[:, None]], dim=1)


class OneText(Adapter):
    """A `OneStack` of either kind; `kind` is "decoder" or "encoder"."""

    def __init__(self, kind: Kind = "decoder") -> None:
        torch.manual_seed(0)
        self.tokenizer = Tokenizer.train(TEXTS * 3, vocabulary=400)
        config = ModelConfig(len(self.tokenizer), 32, 4, 64, 2, 0, max_tokens=48)
        self.model = OneStack(config, kind).eval()
        writes = frozenset({"decode"}) if kind == "decoder" else frozenset[str]()
        self.info = ModelInfo(
            id=kind,
            name=f"A tiny {kind}",
            kind=kind,
            attentions=tuple(self._attentions()),
            d_model=config.d_model,
            parameters=sum(one.numel() for one in self.model.parameters()),
            vocabulary=config.vocabulary,
            languages=("en",),
            max_tokens=config.max_tokens,
            digest=kind,
            card="",
            capabilities=writes | {"positions", "padding"},
        )
        self.names: dict[str, tuple[str, ...]] = {}
        self.model(torch.zeros(1, 1).long(), torch.ones(1, 1).bool(), NameTap(self.names))

    def _attentions(self) -> Iterator[AttentionInfo]:
        heads, stack = self.model.config.heads, self.model.kind
        for layer in range(len(self.model.layers)):
            place = f"{stack}.{layer}.self"
            yield AttentionInfo(
                place, stack, layer, SELF, TEXT, TEXT, heads, heads, self.model.mask, SCALED_DOT
            )

    def read(self, request: Request) -> list[Token]:
        """Return `<bos>` and the pieces, padded as requested."""
        tokens = [self.tokenizer.control(BOS), *self.tokenizer.encode(request.source)]
        return tokens + [self.tokenizer.control(PAD)] * ((request.pad_to or 0) - len(tokens))

    def validate(self, request: Request) -> None:
        tokens = self.read(replace(request, pad_to=None))
        if len(tokens) == 1:
            raise InputError("empty-text", TEXT, "text is empty")
        check_range("text", len(tokens), 2, self.info.max_tokens)
        check_decode(request.decode, self.info.max_tokens)
        select(request.select, self.names)
        select(request.summarise, self.info.places, "summarise")
        # The continued text has places too.
        lengths = {TEXT: self.info.max_tokens}
        check_interventions(request.interventions, self.names, self.info.attentions, lengths, {})
        if request.pad_to is not None:
            check_range("pad_to", request.pad_to, len(tokens), self.info.max_tokens)

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        read = [self.read(request) for request in requests]
        longest = max(map(len, read))
        pad = self.tokenizer.pad
        ids = torch.tensor([[t.id for t in row] + [pad] * (longest - len(row)) for row in read])
        summarised = [select(one.summarise, self.info.places, "summarise") for one in requests]
        recorders = [
            Recorder(
                {*select(one.select, self.names), *needed(places)},
                {TEXT: len(row)},
                {TEXT: len(row)},
                one.interventions,
            )
            for one, row, places in zip(requests, read, summarised, strict=True)
        ]
        with torch.inference_mode():
            self.model(ids, ids != pad, BatchTap(recorders))
        return [
            self._trace(request, {TEXT: tuple(row)}, recorder.tensors, places)
            for request, row, recorder, places in zip(
                requests, read, recorders, summarised, strict=True
            )
        ]

    def _trace(
        self,
        request: Request,
        texts: Mapping[str, tuple[Token, ...]],
        recorded: Mapping[str, NamedTensor],
        places: Sequence[str],
    ) -> Trace:
        tensors = {name: recorded[name] for name in select(request.select, self.names)}
        return Trace(
            model=self.info,
            request=request,
            texts=texts,
            tensors=tensors,
            summaries={place: summary(place, recorded, texts) for place in places},
            pieces={id_: self.token(id_) for id_ in candidates(tensors)},
        )

    def write(self, request: Request) -> Decoding:
        tokens = self.read(request)
        decode = request.decode
        limit = min(decode.max_tokens or 12, self.info.max_tokens - len(tokens))
        limited = replace(request, decode=replace(decode, max_tokens=limit))
        return Decoding(self.info, limited, {TEXT: tuple(tokens)}, self._steps(limited, tokens))

    def _steps(self, request: Request, tokens: Sequence[Token]) -> Iterator[SearchStep]:
        decode, limit = request.decode, request.decode.max_tokens or 1
        tap = BatchTap([Recorder(interventions=request.interventions)])
        predictor = GoingOn(self.model, [token.id for token in tokens], tap)
        if decode.method == "beam":
            width = decode.beam, decode.length_penalty, decode.prefix
            return beam(predictor, self.tokenizer, limit, *width)
        drawn = Draw(decode.temperature, decode.top_k, decode.top_p, decode.seed)
        draws: list[Any] = [drawn if decode.method == "sample" else None]
        return sample(predictor, self.tokenizer, [limit], draws, [decode.prefix])

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        return self.tokenizer.written(ids)

    def token(self, id_: int, *, first: bool = False) -> Token:
        return self.tokenizer.token(id_, first=first)
