"""What the heads of an attention do, as ONNX graphs: `model.explain.patterns` on given weights.

One graph is for self-attention, one for cross-attention, since their measures differ. A page
compares the tokens, and a graph does the rest.

Shapes: H heads, N queries, M keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import Tensor, nn

from model.explain.patterns import PATTERNS, pattern_numbers, tally
from model.web.onnx_file import exported_graph

INPUTS = ("weights", "mask", "queries.special", "keys.special", "pairs.same")
PATTERN = "pattern"  # the output with the number of each head's pattern
HEADS, QUERIES, KEYS = 3, 5, 7  # of the pass that is exported
NAMES = {False: "self-patterns", True: "cross-patterns"}


@dataclass(frozen=True)
class ComparedTokens:
    """The tokens of an attention as a page compares them."""

    special: tuple[Tensor, Tensor]
    same: Tensor
    cross: bool


class PatternGraph(nn.Module):
    """The measures of heads (H, N, M), and the number of each one's pattern."""

    def __init__(self, cross: bool) -> None:
        super().__init__()
        self.cross = cross
        self.outputs = [*self._results(*self.inputs())]

    def inputs(self) -> tuple[Tensor, ...]:
        """Return the tensors of the pass that is exported."""
        weights = torch.rand(HEADS, QUERIES, KEYS).softmax(-1)
        pairs = torch.ones(QUERIES, KEYS, dtype=torch.bool)
        rows, columns = (torch.arange(count) == 0 for count in (QUERIES, KEYS))
        return weights, pairs, rows, columns, ~pairs

    def forward(self, *values: Tensor) -> tuple[Tensor, ...]:
        """Return all outputs, each (H)."""
        return tuple(self._results(*values).values())

    def _results(
        self, weights: Tensor, mask: Tensor, rows: Tensor, columns: Tensor, same: Tensor
    ) -> dict[str, Tensor]:
        tallied = tally(weights, ComparedTokens((rows, columns), same, self.cross), mask)
        return {**tallied.means, PATTERN: pattern_numbers(tallied)}


@cache
def pattern_onnx(cross: bool) -> onnx.ModelProto:
    """Export a graph, once for the models of a site: it is the same for all."""
    graph = PatternGraph(cross)
    heads, queries, keys = (torch.export.Dim.DYNAMIC,) * 3
    pair = {0: queries, 1: keys}
    lengths = ({0: heads, 1: queries, 2: keys}, pair, {0: queries}, {0: keys}, pair)
    inputs = dict(zip(INPUTS, graph.inputs(), strict=True))
    return exported_graph(graph, inputs, graph.outputs, lengths)


def write_patterns(into: Path) -> tuple[list[Path], dict[str, Any]]:
    """Write both graphs; return their files and their description."""
    files, outputs = [], {}
    for cross, name in NAMES.items():
        file = into / f"{name}.onnx"
        exported = pattern_onnx(cross)
        onnx.save(exported, file)
        files.append(file)
        outputs[name] = [output.name for output in exported.graph.output]
    return files, {"names": PATTERNS, "outputs": outputs}
