"""What is said of a model that cannot be served: one sentence for every model of a kind.

no text         it reads images, sound or numbers
other inputs    it needs more than a text
own attention   its own code computes attention, and reports no weight for each pair of tokens
"""

from __future__ import annotations

import inspect
from typing import Any

from torch import Tensor, nn

IDS = "input_ids"
SENSED = ("pixel_values", "input_features", "input_values", "audio_values")  # images, sound
ARRAYS = (
    "run it yourself with output_attentions=True, and show its attention as arrays: "
    "headlight.show(attentions, labels), with a label for each patch or frame"
)


class RefusalError(ValueError):
    """A model that cannot be served; the message names its class and the reason."""


def refused(class_: type, reason: str) -> RefusalError:
    """Return the refusal of a model of this class."""
    return RefusalError(f"{class_.__name__} cannot be served: {reason}")


def no_text(class_: type[Any]) -> RefusalError:
    """Refuse a model whose input is no text."""
    read = class_.main_input_name
    inputs = "no token ids" if read == IDS else f"{read}, not token ids"
    return refused(class_, f"it reads no text: its forward pass takes {inputs}; {ARRAYS}")


def other_inputs(model: Any, error: Exception) -> RefusalError:
    """Refuse a model that fails on the token ids of a text and their mask."""
    if model.main_input_name != IDS:
        return no_text(type(model))
    reason = f"it does not run on the token ids of a text alone ({error_line(error)})"
    others = [name for name in inspect.signature(type(model).forward).parameters if name in SENSED]
    if others:
        reason += f", since it also reads {' and '.join(others)}; {ARRAYS}"
    return refused(type(model), reason)


def own_attention(model: Any, reported: str = "") -> RefusalError:
    """Refuse a model that neither calls the attention interface nor reports its weights."""
    reason = "its own code mixes the tokens, and the weight of each query on each key is not known"
    return refused(type(model), f"{reason} (it {reported or 'reports none'})")


def other_results(model: Any, implementation: str) -> RefusalError:
    """Refuse a model in memory that computes something else when it reports its weights."""
    reason = (
        f"with the attention {implementation!r} that it was opened with, it computes something "
    )
    return refused(
        type(model),
        f"{reason}else when it reports its weights; open it with "
        'from_pretrained(…, attn_implementation="eager")',
    )


def check_reads_ids(class_: type[Any]) -> None:
    """Raise `RefusalError` for a class whose forward pass takes no token ids."""
    if IDS not in inspect.signature(class_.forward).parameters:
        raise no_text(class_)


def vocabulary(model: Any) -> int:
    """Return the number of token ids that a model reads. Raises `RefusalError` if it reads none."""
    size = getattr(model.config.get_text_config(), "vocab_size", None)
    if size is not None:
        return int(size)
    embedding = input_embeddings(model)
    if not isinstance(embedding, nn.Embedding):
        raise no_text(type(model))
    return embedding.num_embeddings


def input_embeddings(model: Any) -> Any:
    """Return the module that embeds ids; None if the class does not say which it is."""
    try:
        return model.get_input_embeddings()
    except NotImplementedError:
        return None


def shape_of(reported: object) -> str:
    """Describe what a model reports in place of weights."""
    if isinstance(reported, Tensor):
        return f"reports an array of the shape {tuple(reported.shape)}"
    return f"reports {type(reported).__name__} in place of an array"


def error_line(error: Exception) -> str:
    """Return the kind of an error, and the first line of its message."""
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first[:200]}".rstrip(": ")
