"""Copies of a model's modules that share all of its tensors."""

from __future__ import annotations

import copy
from typing import Any

import transformers
from torch import Tensor, nn

from model.adapters.huggingface.attention import register
from model.adapters.huggingface.watching import named_as_it_is


def twin(model: Any) -> Any:
    """Return copies of the modules, in evaluation mode and with their own config.

    They share every parameter and buffer; hooks on them do not concern the model.
    """
    register()
    held: list[Tensor] = [*model.parameters(), *model.buffers()]
    for part in model.modules():
        held += [one for one in vars(part).values() if isinstance(one, Tensor)]
    made = copy.deepcopy(model, {id(one): one for one in held})
    for config in configs(made):
        named_as_it_is(config)
        config.use_cache = False  # every pass reads the whole text
    return made.eval()


def configs(model: nn.Module) -> list[Any]:
    """Return the configs of a model and its parts, each once."""
    found = (getattr(part, "config", None) for part in model.modules())
    known = {id(one): one for one in found if isinstance(one, transformers.PreTrainedConfig)}
    return list(known.values())
