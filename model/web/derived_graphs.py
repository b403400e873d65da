"""What is computed from a run's tensors, as ONNX graphs: `model.explain` on given numbers.

`nearest` has the tokens whose embeddings are most alike, `inside` the logit lens and what each part
adds to a logit. A page runs one when it is asked for an output of it; its inputs are tensors of the
run, by name, or ids of tokens.

What the heads of an attention do is `model.explain.patterns` on given weights. One graph is for
self-attention, one for cross-attention, since their measures differ. A page compares the tokens,
and a graph does the rest.

Shapes: T rows of a text; H heads, N queries, M keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import Tensor, nn

from model.explain import logit_lens, nearest_tokens
from model.explain.logit_lens import (
    LENS,
    LOGIT,
    PARTS,
    RecordedRun,
    contrasted_with,
    contributions,
    lens,
)
from model.explain.patterns import PATTERNS, pattern_numbers, tally
from model.explain.residual_stream import Stream
from model.trace.tensor_names import INSIDE
from model.trace.tensor_tap import QUERY, SOURCE, TARGET
from model.transformer.stacks import Transformer
from model.web.graphs import Graph
from model.web.onnx_file import exported_graph, read_stored

IDS = "ids"  # of the tokens that a text has

WRITTEN = "written"  # ids that its rows write

AGAINST = "against"  # ids that these are contrasted with

ROWS = 5  # of the pass that is exported


@dataclass(frozen=True)
class DerivedOutput:
    """A tensor of the graph, its dims and the text of its rows."""

    name: str
    dims: tuple[str, ...]
    text: str


class DerivedGraph(nn.Module):
    """A function of a run's tensors: `inputs` by name, each with the index of its rows' axis."""

    def __init__(
        self,
        name: str,
        model: Transformer,
        inputs: Mapping[str, tuple[Tensor, int]],
        outputs: Sequence[DerivedOutput],
    ) -> None:
        super().__init__()
        self.name, self.inputs, self.outputs = name, inputs, outputs
        self.model = model  # whose parameters the graph has

    def values(self, tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Return all outputs by name."""
        raise NotImplementedError

    def forward(self, *values: Tensor) -> tuple[Tensor, ...]:
        """Return all outputs in their order, for inputs in theirs."""
        computed = self.values(dict(zip(self.inputs, values, strict=True)))
        return tuple(computed[output.name] for output in self.outputs)

    def described(self) -> dict[str, Any]:
        """Return what a page has to know."""
        outputs = [
            {"name": output.name, "dims": output.dims, "over": {QUERY: output.text}}
            for output in self.outputs
        ]
        return {"inputs": [*self.inputs], "outputs": outputs}


class NearestGraph(DerivedGraph):
    """The tokens that are nearest to those of the source."""

    def __init__(self, model: Transformer) -> None:
        inputs = {f"{SOURCE}.{IDS}": (torch.arange(ROWS), 0)}
        outputs = [DerivedOutput(name, dims, SOURCE) for name, dims in nearest_tokens.NAMES.items()]
        super().__init__("nearest", model, inputs, outputs)

    def values(self, tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        table = self.model.embedding.weight
        cosines, candidates = nearest_tokens.nearest_rows(table, tensors[f"{SOURCE}.{IDS}"])
        return {nearest_tokens.COSINES: cosines, nearest_tokens.CANDIDATES: candidates}


@dataclass(frozen=True, kw_only=True)
class GivenRun(RecordedRun):
    """The tensors of a run as a page gives them; it has no residual without its input."""

    tensors: Mapping[str, Tensor] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Tensor:
        return self.tensors[name]

    def __contains__(self, name: str) -> bool:
        return name in self.tensors

    def skips(self, name: str) -> bool:
        return True


class InsideGraph(DerivedGraph):
    """The logit lens, and what each part adds to the logit of the token that a row writes.

    Both also for the difference from the logit of another token, with which a row is contrasted.
    """

    def __init__(self, model: Transformer, stream: Stream, decoder: Graph) -> None:
        recorded = decoder.outputs({given.name: given.tensor() for given in decoder.inputs})
        parts = logit_lens.parts(stream, {output.name for output in recorded})
        groups = {"lens": LENS, "logit": parts, "contrast": {**PARTS, **parts}}
        needed = logit_lens.needed(stream, [f"{INSIDE}{group}." for group in groups])
        examples = {
            output.name: (output.value[0], output.dims.index(QUERY))
            for output in recorded
            if output.name in needed
        }
        # Two tensors: one that is given twice would be exported as one input.
        ids = {f"{TARGET}.{name}": (torch.arange(ROWS), 0) for name in (WRITTEN, AGAINST)}
        inputs = {**examples, **ids}
        outputs = [
            DerivedOutput(f"{INSIDE}{group}.{name}", dims, TARGET)
            for group, named in groups.items()
            for name, dims in named.items()
        ]
        super().__init__("inside", model, inputs, outputs)
        self.stream = stream

    def values(self, tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        run = GivenRun(
            recorder=None,  # type: ignore[arg-type]
            device=self.stream.matrix.device,
            stream=self.stream,
            written=tensors[f"{TARGET}.{WRITTEN}"],
            at_once=0,
            tensors=tensors,
        )
        against = tensors[f"{TARGET}.{AGAINST}"]
        computed = {
            "lens": lens(run),
            "logit": contributions(run) if self.stream.exact else {},
            "contrast": contrasted_with(
                run, against, {*PARTS, *LOGIT} if self.stream.exact else {*PARTS}
            ),
        }
        return {
            f"{INSIDE}{group}.{name}": value
            for group, values in computed.items()
            for name, value in values.items()
        }


def derived_graphs(model: Transformer, stream: Stream, decoder: Graph) -> list[DerivedGraph]:
    """Return the graphs of a model."""
    return [NearestGraph(model), InsideGraph(model, stream, decoder)]


def write_derived(
    graphs: Sequence[DerivedGraph], into: Path, weights: Path
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Write the graphs into a folder; yield the file and the description of each."""
    for graph in graphs:
        file = into / f"{graph.name}.onnx"
        onnx.save(_exported(graph, weights), file)
        yield file, graph.described()


def _exported(graph: DerivedGraph, weights: Path) -> onnx.ModelProto:
    rows = torch.export.Dim.DYNAMIC
    exported = exported_graph(
        graph.requires_grad_(False),
        {name: example for name, (example, _) in graph.inputs.items()},
        [output.name for output in graph.outputs],
        [{axis: rows} for _, axis in graph.inputs.values()],
    )
    read_stored(exported.graph, weights)
    return exported


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
