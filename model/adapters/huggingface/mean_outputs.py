"""The mean output of each head of a model of `transformers`, by which `mean` replaces it.

A folder contains no means, and no data to measure them on. They are computed once, when they are
first asked for, over the tokens of the model's example texts and of the sentences below; for an
encoder–decoder, over those of its own outputs.

Source: mean ablation as in Wang et al. 2022, Interpretability in the Wild.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import RLock
from typing import Any

import torch
from torch import Tensor

from model.adapters.request import Request, Trace

MIX = ".mix"
SENTENCES = (
    "The river is frozen, so the boats stay in the harbour until spring.",
    "She asked whether the train to the coast was late again.",
    "Two plus three is five, and five plus five is ten.",
    "After the concert, everyone walked home through the rain.",
    "He bought bread, cheese and apples at the market.",
    "In 1969 people walked on the moon for the first time.",
    "Please close the window before you leave the office.",
    "Most birds build their nests in early summer.",
)


class MeanOutputs(Mapping[str, Tensor]):
    """The means (H, d_v) by name, such as "decoder.0.self.mix".

    They are computed anew after a parameter of the model has changed.
    """

    def __init__(
        self,
        model: Any,
        names: Sequence[str],
        prompts: Sequence[str],
        run: Callable[[Sequence[Request]], list[Trace]],
        takes: Callable[[Request], bool],
    ) -> None:
        self.model = model
        self.names = [name for name in names if name.endswith(MIX)]
        self.texts = [*prompts, *SENTENCES]
        self.run = run
        self.takes = takes
        self._known: tuple[int, dict[str, Tensor]] | None = None
        self._lock = RLock()

    def __getitem__(self, name: str) -> Tensor:
        with self._lock:
            version = sum(one._version for one in self.model.parameters())
            if self._known is None or self._known[0] != version:
                self._known = version, self._means()
            return self._known[1][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def _means(self) -> dict[str, Tensor]:
        asked = [Request(text, select=tuple(self.names)) for text in self.texts]
        sums: dict[str, Tensor] = {}
        counts: dict[str, int] = {}
        for request in filter(self.takes, asked):
            [trace] = self.run([request])
            for name in self.names:
                mix = trace[name].value.double()  # (H, N, d_v)
                sums[name] = sums.get(name, torch.zeros(())) + mix.sum(dim=1)
                counts[name] = counts.get(name, 0) + mix.shape[1]
        device = self.model.device
        return {name: (total / counts[name]).float().to(device) for name, total in sums.items()}
