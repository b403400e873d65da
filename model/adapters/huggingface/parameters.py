"""The parameters of attentions and feed-forward networks of `transformers`, by name.

They are named as those of the project's own models (`model.transformer.parameters`): matrices are
multiplied as `x @ W + b`, and the columns of W_q, W_k and W_v, and the rows of W_o, belong to the
heads in their order. What a model lacks, or what was not found, has no name.

How a network computes its output is found by comparing numbers:

    read   = norm(x), or x; x is the sum after the attention or, in parallel, the layer's input
    hidden = f(read W_1 + b_1), or f(read W_g + b_g) · (read W_1 + b_1) if it is gated
    output = hidden W_2 + b_2

A matrix may hold W_g and W_1 together (ModernBERT). Networks of experts, of which a router chooses
some for each token, are not found. Source of the gated form: Shazeer 2020, "GLU Variants Improve
Transformer", equations 5 and 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.adapters.huggingface.projections import (
    Projections,
    Rotation,
    gain_of,
    projections_of,
    rotations,
)
from model.adapters.huggingface.recorded_attention import Call
from model.adapters.huggingface.stream_modules import (
    FFN,
    Anatomy,
    ModuleCall,
    Term,
    close,
    linear,
    norm_of,
)
from model.trace.attentions import LATENT, LINEAR, SELF, UNKNOWN, AttentionInfo, NetworkInfo
from model.trace.tensor_tap import CHANNEL, FEATURE, HEAD, HIDDEN, IN, OUT, NamedTensor

OFFSETS = 128  # the largest offset in a table of relative positions; T5 treats larger ones alike
Dims = tuple[str, ...]
Parameter = tuple[Dims, Callable[[], Tensor]]  # computed when it is read: a user may train on


class Sublayer(Protocol):
    """A sublayer's parameters by short name, and the norm that it reads."""

    @property
    def parameters(self) -> Mapping[str, Parameter]: ...
    @property
    def before(self) -> nn.Module | None: ...


@dataclass(frozen=True, eq=False)
class Calculation:
    """An attention's parameters by short name, and the norm that its projections read."""

    parameters: Mapping[str, Parameter]
    before: nn.Module | None
    projection: str
    call: Call  # of the probe
    projections: Projections | None

    def described(self, attention: AttentionInfo) -> AttentionInfo:
        """Return the description of the attention with the names of its parameters."""
        return replace(attention, parameters=tuple(self.parameters), projection=self.projection)


def calculations(model: Any, anatomies: Sequence[Anatomy]) -> dict[str, Calculation]:
    """Return the calculation of each attention, by place."""
    turns = list(rotations(model))
    tables = [module for module in model.modules() if hasattr(module, "relative_attention_bias")]
    latent = getattr(model.config.get_text_config(), "kv_lora_rank", None) is not None
    memory = next((anatomy.logits for anatomy in anatomies if anatomy.stack == "encoder"), None)
    names = {module: name for name, module in model.named_modules()}
    by_place = {}
    for anatomy in anatomies:
        for place, term, x, _, calls in sublayers(anatomy):
            if term.name == FFN:
                continue
            call = anatomy.calls[place]
            prefix = f"{names[call.module]}."
            inner_calls = [call for call in calls if call.name.startswith(prefix)]
            read = x if term.name == SELF else memory
            projections = read is not None and projections_of(
                call, x, read, inner_calls, calls, turns
            )
            if projections and projections.before is not None and term.post is not None:
                projections = None  # two norms would have one name
            parameters = {
                **(_projection_parameters(projections) if projections else {}),
                **_score_parameters(call, tables),
                **output_parameters(term, calls),
            }
            before = projections.before.module if projections and projections.before else None
            projection = LINEAR if projections else LATENT if latent else UNKNOWN
            by_place[place] = Calculation(parameters, before, projection, call, projections or None)
    return by_place


def all_parameters(of: Mapping[str, Sublayer]) -> dict[str, Parameter]:
    """Return all parameters by full name."""
    return {
        f"{place}.{name}": parameter
        for place, sublayer in of.items()
        for name, parameter in sublayer.parameters.items()
    }


def norms_before(*of: Mapping[str, Sublayer]) -> dict[str, nn.Module]:
    """Return the norms that sublayers read, by place."""
    return {
        place: sublayer.before
        for sublayers in of
        for place, sublayer in sublayers.items()
        if sublayer.before
    }


def read_parameter(parameter: Parameter) -> NamedTensor:
    """Return a parameter as it is now."""
    dims, value = parameter
    with torch.no_grad():
        return NamedTensor(dims, {}, value().detach().float().cpu().contiguous())


def sublayers(
    anatomy: Anatomy,
) -> Iterator[tuple[str, Term, Tensor, Tensor, Sequence[ModuleCall]]]:
    """Yield each sublayer's place, term, x, its layer's input (both N, D), and its layer's calls.

    x is the sum so far, or the last norm of it.
    """
    for index, (terms, calls) in enumerate(zip(anatomy.terms, anatomy.inner, strict=True)):
        entry = x = anatomy.entries[index]
        for term in terms:
            yield f"{anatomy.stack}.{index}.{term.name}", term, x, entry, calls
            after = term.added if term.post is None else term.post
            output = next(call.output for call in calls if call.module is after)
            x = x + output if term.post is None else output


def _projection_parameters(projections: Projections) -> dict[str, Parameter]:
    parameters: dict[str, Parameter] = {}
    for letter in "qkv":
        projection = getattr(projections, letter)
        parameters[f"W_{letter}"] = (IN, OUT), partial(getattr, projection, "W")
        if projection.b is not None:
            parameters[f"b_{letter}"] = (OUT,), partial(getattr, projection, "b")
        if projection.norm is not None:
            parameters |= norm_parameters(projection.norm, f"{letter}_", CHANNEL)
    if projections.before is not None:
        parameters |= norm_parameters(projections.before, "", FEATURE)
    if projections.rotation is not None:
        parameters |= _rotation_parameters(projections.rotation)
    return parameters


def _rotation_parameters(rotation: Rotation) -> dict[str, Parameter]:
    parameters: dict[str, Parameter] = {
        "theta": (("pair",), lambda: rotation.theta),
        "pairs": (("pair", "end"), lambda: rotation.pairs),
    }
    if rotation.scale != 1:
        parameters["turn_scale"] = ("one",), lambda: torch.tensor([rotation.scale])
    return parameters


def _score_parameters(call: Call, tables: Sequence[Any]) -> dict[str, Parameter]:
    """Return what acts on scores: T5's relative positions, and the score of a sink."""
    parameters: dict[str, Parameter] = {}
    if call.bias is not None:
        rows, columns = call.bias.shape[-2:]
        for table in tables:
            if close(table.compute_bias(rows, columns)[0], call.bias[0]):
                parameters["pi"] = (HEAD, "offset"), partial(_by_offset, table)
                break
    if (sink := call.sink) is not None:
        parameters["sink_score"] = (HEAD,), lambda: sink.reshape(-1)
    return parameters


def _by_offset(table: Any) -> Tensor:
    """Return the numbers (H, 2 · OFFSETS + 1) that are added at offsets −OFFSETS to OFFSETS."""
    biases = table.compute_bias(OFFSETS + 1, OFFSETS + 1)[0]  # (H, query, key)
    return torch.cat([biases[:, 1:, 0].flip(-1), biases[:, 0]], dim=-1)


def output_parameters(term: Term, calls: Sequence[ModuleCall]) -> dict[str, Parameter]:
    """Return an attention's output matrix, and the norms behind a sublayer."""
    parameters: dict[str, Parameter] = {}
    if (matrix := term.W_o) is not None:
        parameters["W_o"] = (IN, OUT), lambda: matrix
    if (bias := term.bias) is not None and term.W_o is not None:
        parameters["b_o"] = (OUT,), lambda: bias
    for prefix, module in (("own_", term.own and term.added), ("", term.post)):
        call = next((other for other in calls if other.module is module), None)
        if call is not None and norm_of(call) is not None:
            parameters |= norm_parameters(call, prefix, FEATURE)
    return parameters


def norm_parameters(call: ModuleCall, prefix: str, dim: str) -> dict[str, Parameter]:
    """Return a norm's parameters: `gain` of a LayerNorm, or `rms_gain` of an RMSNorm."""
    norm, module = norm_of(call), call.module
    assert norm is not None
    gain = "gain" if norm.centred else "rms_gain"
    parameters: dict[str, Parameter] = {
        f"{prefix}{gain}": ((dim,), lambda: gain_of(module, norm)),
        f"{prefix}epsilon": (("one",), lambda: torch.tensor([norm.eps])),
    }
    if (shift := norm.shift) is not None:
        parameters[f"{prefix}bias"] = (dim,), lambda: shift
    return parameters


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
    "relu-squared": lambda x: F.relu(x).square(),
    "gelu-sigmoid": lambda x: x * torch.sigmoid(1.702 * x),
}
EXACTLY = 1e-6  # GELU and its approximations differ by less than 5e-4
UP, GATE, DOWN = "1", "g", "2"


@dataclass(frozen=True, eq=False)
class Network:
    """A network's description, its parameters by short name, and the norm that it reads."""

    info: NetworkInfo
    parameters: Mapping[str, Parameter]
    before: nn.Module | None


@dataclass(frozen=True, eq=False)
class _LinearColumns:
    """Some columns of a linear module: read W + b."""

    call: ModuleCall
    columns: slice

    @property
    def value(self) -> Tensor:
        return self.call.output[:, self.columns]

    def parameters(self, letter: str) -> dict[str, Parameter]:
        """Return its matrix and bias under the names with this letter."""
        module, columns = self.call.module, self.columns
        parameters: dict[str, Parameter] = {
            f"W_{letter}": ((FEATURE, HIDDEN), lambda: _linear(module)[0][:, columns])
        }
        if _linear(module)[1] is not None:
            parameters[f"b_{letter}"] = (HIDDEN,), lambda: _bias(module)[columns]
        return parameters


def networks(anatomies: Sequence[Anatomy]) -> dict[str, Network]:
    """Return the feed-forward networks that were found, by place."""
    by_place = {}
    for anatomy in anatomies:
        for place, term, x, entry, calls in sublayers(anatomy):
            network = _network(place, term, x, entry, calls) if term.name == FFN else None
            if network is not None:
                by_place[place] = network
    return by_place


def _network(
    place: str, term: Term, x: Tensor, entry: Tensor, calls: Sequence[ModuleCall]
) -> Network | None:
    down = next(call for call in calls if call.module is term.output)
    if linear(term.output)[0] is None or not _multiplies(down):
        return None
    for activation, up, gate in _hidden(down, calls):
        read = up.call.read
        for stream, parallel in ((x, False), (entry, True)):
            before = _norm(stream, read, calls)
            if before is None and not close(stream, read):
                continue
            if before is not None and term.post is not None:
                return None  # two norms would have one name
            parameters = {
                **(gate.parameters(GATE) if gate else {}),
                **up.parameters(UP),
                **_down_parameters(term.output),
                **(norm_parameters(before, "", FEATURE) if before else {}),
                **output_parameters(term, calls),
            }
            width = down.read.shape[-1]
            info = NetworkInfo(place, activation, width, parallel, tuple(parameters))
            return Network(info, parameters, before.module if before else None)
    return None


def _hidden(
    down: ModuleCall, calls: Sequence[ModuleCall]
) -> Iterator[tuple[str, _LinearColumns, _LinearColumns | None]]:
    """Yield how the hidden units may be computed: the activation, the sum, and a gate's."""
    hidden = down.read
    sums = [
        linear_sum
        for call in calls
        if _multiplies(call)
        for linear_sum in _sums(call, hidden.shape[-1])
    ]
    for act in calls:
        if act.read.shape != hidden.shape or act.output.shape != hidden.shape:
            continue
        activation = activation_of(act.module)
        for inner in sums if activation else ():
            if not close(inner.value, act.read):
                continue
            if close(act.output, hidden):
                yield str(activation), inner, None
            yield from (
                (str(activation), up, inner)
                for up in sums
                if up is not inner
                and close(up.call.read, inner.call.read)
                and close(act.output * up.value, hidden)
            )


def _sums(call: ModuleCall, width: int) -> Iterator[_LinearColumns]:
    if call.output.shape[-1] == width:
        yield _LinearColumns(call, slice(0, width))
    if call.output.shape[-1] == 2 * width:
        yield from (_LinearColumns(call, slice(start, start + width)) for start in (0, width))


def _multiplies(call: ModuleCall) -> bool:
    """Return whether a call is of a linear module, with rows (N, D)."""
    matrix, bias = linear(call.module)
    if matrix is None or call.read.dim() != 2 or call.read.shape[-1] != len(matrix):
        return False
    product = call.read @ matrix
    return close(product if bias is None else product + bias, call.output)


def activation_of(module: nn.Module) -> str | None:
    """Return the name of a module's function, compared on numbers of both signs."""
    if next(module.parameters(), None) is not None:
        return None
    x = torch.linspace(-6, 6, 121)
    y = module(x)
    for name, function in ACTIVATIONS.items():
        if torch.allclose(y, function(x), atol=EXACTLY, rtol=EXACTLY):
            return name
    return None


def _norm(x: Tensor, read: Tensor, calls: Sequence[ModuleCall]) -> ModuleCall | None:
    """Return the norm of the stream that a network reads."""
    for call in calls:
        if close(call.read, x) and close(call.output, read) and norm_of(call) is not None:
            return call
    return None


def _down_parameters(module: nn.Module) -> dict[str, Parameter]:
    parameters: dict[str, Parameter] = {
        f"W_{DOWN}": ((HIDDEN, FEATURE), lambda: _linear(module)[0]),
    }
    if _linear(module)[1] is not None:
        parameters[f"b_{DOWN}"] = (FEATURE,), lambda: _bias(module)
    return parameters


def _linear(module: nn.Module) -> tuple[Tensor, Tensor | None]:
    matrix, bias = linear(module)
    assert matrix is not None
    return matrix, bias


def _bias(module: nn.Module) -> Tensor:
    bias = _linear(module)[1]
    assert bias is not None
    return bias
