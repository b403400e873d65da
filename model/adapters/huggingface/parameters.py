"""The parameters with which each attention of a model of `transformers` computes, by name.

They are named as those of the project's own models (`model.transformer.parameters`): matrices are
multiplied as `x @ W + b`, and the columns of W_q, W_k and W_v, and the rows of W_o, belong to the
heads in their order. What a model lacks, or what was not found, has no name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from model.adapters.huggingface.anatomy import Anatomy
from model.adapters.huggingface.attention import Call
from model.adapters.huggingface.projections import Projections, gain_of, projections_of
from model.adapters.huggingface.rotation import Rotation, rotations
from model.adapters.huggingface.terms import FFN, Seen, Term, close, norm_of
from model.trace.attentions import LATENT, LINEAR, SELF, UNKNOWN, AttentionInfo
from model.trace.tensor_tap import CHANNEL, FEATURE, HEAD, IN, OUT, NamedTensor

OFFSETS = 128  # the largest offset in a table of relative positions; T5 treats larger ones alike
Dims = tuple[str, ...]
Parameter = tuple[Dims, Callable[[], Tensor]]  # computed when it is read: a user may train on


class Computed(Protocol):
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

    def described(self, one: AttentionInfo) -> AttentionInfo:
        """Return the description of the attention with the names of its parameters."""
        return replace(one, parameters=tuple(self.parameters), projection=self.projection)


def calculations(model: Any, anatomies: Sequence[Anatomy]) -> dict[str, Calculation]:
    """Return the calculation of each attention, by place."""
    turns = list(rotations(model))
    tables = [one for one in model.modules() if hasattr(one, "relative_attention_bias")]
    latent = getattr(model.config.get_text_config(), "kv_lora_rank", None) is not None
    memory = next((one.logits for one in anatomies if one.stack == "encoder"), None)
    names = {module: name for name, module in model.named_modules()}
    found = {}
    for anatomy in anatomies:
        for place, term, x, _, calls in sublayers(anatomy):
            if term.name == FFN:
                continue
            call = anatomy.calls[place]
            prefix = f"{names[call.module]}."
            own = [one for one in calls if one.name.startswith(prefix)]
            read = x if term.name == SELF else memory
            made = read is not None and projections_of(call, x, read, own, calls, turns)
            if made and made.before is not None and term.post is not None:
                made = None  # two norms would have one name
            parameters = {
                **(_projected(made) if made else {}),
                **_scored(call, tables),
                **added(term, calls),
            }
            before = made.before.module if made and made.before else None
            how = LINEAR if made else LATENT if latent else UNKNOWN
            found[place] = Calculation(parameters, before, how, call, made or None)
    return found


def tensors(of: Mapping[str, Computed]) -> dict[str, Parameter]:
    """Return all parameters by full name."""
    return {
        f"{place}.{name}": parameter
        for place, one in of.items()
        for name, parameter in one.parameters.items()
    }


def norms_before(*of: Mapping[str, Computed]) -> dict[str, nn.Module]:
    """Return the norms that sublayers read, by place."""
    return {place: one.before for some in of for place, one in some.items() if one.before}


def read(parameter: Parameter) -> NamedTensor:
    """Return a parameter as it is now."""
    dims, value = parameter
    with torch.no_grad():
        return NamedTensor(dims, {}, value().detach().float().cpu().contiguous())


def sublayers(
    anatomy: Anatomy,
) -> Iterator[tuple[str, Term, Tensor, Tensor, Sequence[Seen]]]:
    """Yield each sublayer's place, term, x, its layer's input (both N, D), and its layer's calls.

    x is the sum so far, or the last norm of it.
    """
    for index, (terms, calls) in enumerate(zip(anatomy.terms, anatomy.inner, strict=True)):
        entry = x = anatomy.entries[index]
        for term in terms:
            yield f"{anatomy.stack}.{index}.{term.name}", term, x, entry, calls
            after = term.added if term.post is None else term.post
            output = next(one.output for one in calls if one.module is after)
            x = x + output if term.post is None else output


def _projected(made: Projections) -> dict[str, Parameter]:
    found: dict[str, Parameter] = {}
    for letter in "qkv":
        one = getattr(made, letter)
        found[f"W_{letter}"] = (IN, OUT), partial(getattr, one, "W")
        if one.b is not None:
            found[f"b_{letter}"] = (OUT,), partial(getattr, one, "b")
        if one.norm is not None:
            found |= norm_parameters(one.norm, f"{letter}_", CHANNEL)
    if made.before is not None:
        found |= norm_parameters(made.before, "", FEATURE)
    if made.rotation is not None:
        found |= _turned(made.rotation)
    return found


def _turned(rotation: Rotation) -> dict[str, Parameter]:
    found: dict[str, Parameter] = {
        "theta": (("pair",), lambda: rotation.theta),
        "pairs": (("pair", "end"), lambda: rotation.pairs),
    }
    if rotation.scale != 1:
        found["turn_scale"] = ("one",), lambda: torch.tensor([rotation.scale])
    return found


def _scored(call: Call, tables: Sequence[Any]) -> dict[str, Parameter]:
    """Return what acts on scores: T5's relative positions, and the score of a sink."""
    found: dict[str, Parameter] = {}
    if call.bias is not None:
        rows, columns = call.bias.shape[-2:]
        for one in tables:
            if close(one.compute_bias(rows, columns)[0], call.bias[0]):
                found["pi"] = (HEAD, "offset"), partial(_by_offset, one)
                break
    if (sink := call.sink) is not None:
        found["sink_score"] = (HEAD,), lambda: sink.reshape(-1)
    return found


def _by_offset(table: Any) -> Tensor:
    """Return the numbers (H, 2 · OFFSETS + 1) that are added at offsets −OFFSETS to OFFSETS."""
    both = table.compute_bias(OFFSETS + 1, OFFSETS + 1)[0]  # (H, query, key)
    return torch.cat([both[:, 1:, 0].flip(-1), both[:, 0]], dim=-1)


def added(term: Term, calls: Sequence[Seen]) -> dict[str, Parameter]:
    """Return an attention's output matrix, and the norms behind a sublayer."""
    found: dict[str, Parameter] = {}
    if (matrix := term.W_o) is not None:
        found["W_o"] = (IN, OUT), lambda: matrix
    if (bias := term.bias) is not None and term.W_o is not None:
        found["b_o"] = (OUT,), lambda: bias
    for prefix, module in (("own_", term.own and term.added), ("", term.post)):
        call = next((one for one in calls if one.module is module), None)
        if call is not None and norm_of(call) is not None:
            found |= norm_parameters(call, prefix, FEATURE)
    return found


def norm_parameters(call: Seen, prefix: str, dim: str) -> dict[str, Parameter]:
    """Return a norm's parameters: `gain` of a LayerNorm, or `rms_gain` of an RMSNorm."""
    norm, module = norm_of(call), call.module
    assert norm is not None
    gain = "gain" if norm.centred else "rms_gain"
    found: dict[str, Parameter] = {
        f"{prefix}{gain}": ((dim,), lambda: gain_of(module, norm)),
        f"{prefix}epsilon": (("one",), lambda: torch.tensor([norm.eps])),
    }
    if (shift := norm.shift) is not None:
        found[f"{prefix}bias"] = (dim,), lambda: shift
    return found
