"""The cases, each of which is two ways of doing the same thing with one model.

Those of training compare parts of a step on a CPU with torch's own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from app.engine.reply_formats import trace_reply
from bench.compare import Case
from model.adapters.encoder_decoder.drafts import open_drafter
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Decode, Request
from model.adapters.requests.trace import Trace
from model.adapters.sweep import sweep
from model.bundle.weights import Bundle
from model.decode.greedy_and_sampling import Reader
from model.lab.compute import compute
from model.lab.lab_request import LabRequest
from model.text.tokens import Token
from model.trace.interventions import Intervention
from model.trace.tensor_names import select
from model.trace.tensor_tap import NULL, BatchTap, Recorder, Tap
from model.train.data import TokenBatch
from model.train.loss import (
    answers,
    autocast,
    divergence,
    fast_in_bf16,
    output_loss,
    states,
    training_loss,
)
from model.transformer.regularization import Dropout
from model.transformer.stacks import Transformer


def training(model: Transformer) -> Iterator[Case]:
    """Yield the parts alone, with 1,400 target tokens; then the gradients of a small batch."""
    width = model.config.d_model
    torch.manual_seed(0)
    x = torch.randn(1400, width, requires_grad=True)
    embedding = model.embedding.weight.detach().clone().requires_grad_()
    written = torch.randint(len(embedding), (len(x),))

    def whole(r_drop: float) -> Tensor:
        return _with_torch(F.linear(x, embedding).float(), written, r_drop)

    def chunks(r_drop: float) -> Tensor:
        return output_loss(x, embedding, written, 0.1, r_drop)[0]

    def gradients(loss: Callable[[float], Tensor], r_drop: float) -> object:
        with autocast(x.device, "auto"):
            value = loss(r_drop)
        return torch.autograd.grad(value, [x, embedding])

    for name, r_drop in (("cross-entropy", 0.0), ("R-Drop's loss", 1.0)):
        yield Case(
            f"{name} and its gradients: torch's / in chunks of rows",
            partial(gradients, whole, r_drop),
            partial(gradients, chunks, r_drop),
        )
    dropped = x.detach()
    dropout = Dropout(0.1)
    yield Case(
        "dropout: a float per entry / a byte per entry",
        lambda: F.dropout(dropped, 0.1),
        lambda: dropout(dropped),
    )

    yield from _steps(model)


def _steps(model: Transformer) -> Iterator[Case]:
    """Yield gradients of 750 tokens, half source and half target: kernels and precisions."""
    ids = torch.randint(model.config.vocabulary, (25, 15))
    real = torch.ones_like(ids, dtype=torch.bool)
    batch = TokenBatch(ids, real, ids, ids, real)
    explicit, fused = (_copy(model, kernel) for kernel in ("explicit", "fused"))

    def gradients(of: Transformer, precision: str) -> None:
        of.zero_grad(set_to_none=True)
        with autocast(ids.device, precision):
            loss, _ = training_loss(of, batch, 0.1, 0.0)
        loss.backward()  # type: ignore[no-untyped-call]

    def step(loss: Callable[[], Tensor]) -> None:
        explicit.zero_grad(set_to_none=True)
        with autocast(ids.device, "auto"):
            value = loss()
        value.backward()  # type: ignore[no-untyped-call]

    def whole() -> Tensor:
        return _with_torch(*answers(explicit, twice), r_drop=1.0)

    def chunks() -> Tensor:
        x, written = states(explicit, twice)
        return output_loss(x, explicit.embedding.weight, written, 0.1, 1.0)[0]

    twice = TokenBatch(*(torch.cat([part, part]) for part in (ids, real, ids, ids, real)))
    yield Case(
        "gradients of a batch with R-Drop: torch's loss / in chunks of rows",
        partial(step, whole),
        partial(step, chunks),
    )
    for precision in ("float32", "bf16") if fast_in_bf16(ids.device) else ("float32",):
        yield Case(
            f"gradients of a batch, {precision}: fused / explicit attention",
            partial(gradients, fused, precision),
            partial(gradients, explicit, precision),
        )
    if fast_in_bf16(ids.device):
        yield Case(
            "gradients of a batch: float32 / bf16",
            partial(gradients, explicit, "float32"),
            partial(gradients, explicit, "bf16"),
        )


def _with_torch(logits: Tensor, written: Tensor, r_drop: float) -> Tensor:
    """Return the loss of logits (N, V) by torch's operations."""
    entropy = F.cross_entropy(logits, written, label_smoothing=0.1)
    return entropy + r_drop * divergence(*logits.chunk(2)) if r_drop else entropy


def _copy(model: Transformer, kernel: str) -> Transformer:
    copy = Transformer(replace(model.config, kernel=kernel))
    copy.load_state_dict(model.state_dict())
    return copy.train()


SENTENCE = "The animal didn't cross the street because it was too tired to walk any further."

TARGET = "那只动物没有过马路，因为它太累了，走不动了。"

SHORT = "The old animal didn't cross the street because it was too tired."

SHORT_TARGET = "动物没有过马路，因为它很累了。"

DECODED = 48  # tokens, even if the sentence ends earlier

BATCH = 8


def cases(bundle: Bundle) -> Iterator[Case]:
    """Yield the cases in the order of the table."""
    adapter = EncoderDecoder(bundle, bundle.name)
    request = Request(SENTENCE, target=TARGET)
    trace = adapter.trace(request, select="*")
    source, target = _ids(trace.texts["source"]), _ids(trace.texts["target"])
    yield from _taps(bundle.model, adapter, source, target)
    yield from _kernels(bundle.model)
    yield Case(
        f"greedy decoding, {DECODED} tokens: no cache / cache",
        partial(_decode, bundle, source, cached=False),
        partial(_decode, bundle, source, cached=True),
    )
    yield Case(
        f"{BATCH} traces: one by one / in one batch",
        lambda: [adapter.trace(request) for _ in range(BATCH)],
        lambda: adapter.run([request] * BATCH),
    )
    yield from _drafts(bundle)
    yield _changed(adapter)
    yield _sweep(adapter)
    yield from training(bundle.model)
    yield _lab()
    reply = trace_reply(trace, "", bundle.name)
    yield Case("writing a reply of everything: JSON / safetensors", reply.json, reply.safetensors)


def sizes(bundle: Bundle) -> dict[str, tuple[int, int]]:
    """Return the bytes of a reply as JSON and as safetensors, by selection and number format."""
    adapter = EncoderDecoder(bundle, bundle.name)
    request = Request(SENTENCE, target=TARGET)
    everything = adapter.trace(request, select="*")
    weights = _only(everything, ".weights")
    replies = {
        "all weights, float32": trace_reply(weights, "", bundle.name),
        "all weights, float16": trace_reply(weights, "", bundle.name, "float16"),
        "all weights, uint8": trace_reply(weights, "", bundle.name, "uint8"),
        "everything, float32": trace_reply(everything, "", bundle.name),
    }
    return {name: (len(reply.json()), len(reply.safetensors())) for name, reply in replies.items()}


def _only(trace: Trace, suffix: str) -> Trace:
    chosen = {name: value for name, value in trace.tensors.items() if name.endswith(suffix)}
    return replace(trace, tensors=chosen)


def _taps(
    model: Transformer, adapter: EncoderDecoder, source: Tensor, target: Tensor
) -> Iterator[Case]:
    for pattern, words in (("*.weights", "all weights"), ("*", "everything")):
        names = select([pattern], adapter.names)
        yield Case(
            f"one pass: recording {words} / null tap",
            partial(_record, model, source, target, names),
            partial(_run, model, source, target),
        )


def _kernels(model: Transformer) -> Iterator[Case]:
    fused = Transformer(replace(model.config, kernel="fused")).eval()
    fused.load_state_dict(model.state_dict())
    for batch, length in ((1, 16), (BATCH, model.config.max_tokens)):
        ids = torch.randint(model.config.vocabulary, (batch, length))
        yield Case(
            f"one pass, {batch} × {length} tokens: explicit / fused attention",
            partial(_run, model, ids, ids),
            partial(_run, fused, ids, ids),
        )


def _drafts(bundle: Bundle) -> Iterator[Case]:
    """Decode sentences of several lengths without and with drafts, if CTranslate2 is installed."""
    words, seeds = SENTENCE.split(), count()
    with TemporaryDirectory() as cache:
        drafter = open_drafter(bundle, Path(cache))
        models = EncoderDecoder(bundle, "decoded"), EncoderDecoder(bundle, "drafted", None, drafter)

        def translate(model: EncoderDecoder, sources: Sequence[str]) -> None:
            # A new seed makes this a new request, which is not cached.
            model.run([Request(source, decode=Decode(seed=next(seeds))) for source in sources])

        for sources in ([SENTENCE], [" ".join(words[end:]) for end in range(BATCH)]):
            if drafter:
                decoded, drafted = (partial(translate, model, sources) for model in models)
                yield Case(
                    f"translations, {len(sources)} at once: decoded / drafted", decoded, drafted
                )


def _changed(adapter: EncoderDecoder) -> Case:
    """Run a batch with heads off in every row and attention, and the same batch without."""
    places = [name.removesuffix(".weights") for name in adapter.names if name.endswith(".weights")]
    rows = 8 * BATCH
    off = [tuple(Intervention(place, "zero", row % 8) for place in places) for row in range(rows)]
    request = Request(SHORT, target=SHORT_TARGET, select=())
    return Case(
        f"{rows} traces in one batch: a head off in each attention of each / none",
        lambda: adapter.run(
            [replace(request, interventions=interventions) for interventions in off]
        ),
        lambda: adapter.run([request] * rows),
    )


def _sweep(adapter: EncoderDecoder) -> Case:
    """Sweep over all heads, and read as many rows in one batch of the bare model."""
    request = Request(SHORT, target=SHORT_TARGET)
    swept = sweep(adapter, request)
    sides = (_ids(side).expand(swept.changes, -1) for side in swept.base.texts.values())
    source, target = sides
    read = f"{source.shape[1]} and {target.shape[1]} tokens"
    return Case(
        f"a sweep over {swept.changes} heads, {read}: the sweep / one pass of {swept.changes} rows",
        lambda: list(sweep(adapter, request).batches),
        partial(_run, adapter.model, source, target),
    )


def _lab() -> Case:
    """Compute a layer and a loss in the lab, and the layer alone with torch's module."""

    def drawn(rows: int, cols: int) -> list[list[float]]:
        return [torch.randn(cols).tolist() for _ in range(rows)]

    request = LabRequest(
        x=drawn(8, 8),
        w_q=drawn(8, 8),
        w_k=drawn(8, 8),
        w_v=drawn(8, 8),
        w_o=drawn(8, 8),
        heads=2,
        mask="causal",
        norm="post",
        w_1=drawn(8, 16),
        w_2=drawn(16, 8),
        w_vocab=drawn(8, 8),
        targets=list(range(8)),
        label_smoothing=0.1,
    )
    x = torch.tensor(request.x, dtype=torch.float64)[None]
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, dtype=torch.float64)
    return Case(
        f"the lab's {len(compute(request).steps)} steps, 8 × 8 / the layer of torch.nn in them",
        partial(compute, request),
        partial(layer, x),
    )


def _ids(tokens: Sequence[Token]) -> Tensor:
    return torch.tensor([[token.id for token in tokens]])


@torch.inference_mode()
def _run(model: Transformer, source: Tensor, target: Tensor, tap: Tap = NULL) -> Tensor:
    logits: Tensor = model(source, target, tap=tap)
    return logits


def _record(model: Transformer, source: Tensor, target: Tensor, names: Sequence[str]) -> Tensor:
    return _run(model, source, target, BatchTap([Recorder(names)]))


@torch.inference_mode()
def _decode(bundle: Bundle, source: Tensor, *, cached: bool) -> Tensor:
    real = torch.ones_like(source, dtype=torch.bool)
    reader = Reader(bundle.model, bundle.tokenizer, source, real, cached=cached)
    for _ in range(DECODED):
        reader.append(reader.logprobs().argmax(dim=-1))
    return reader.read
