"""A graph as an ONNX file that reads its weights from that of the bundle, unchanged.

ONNX finds the numbers of another file by its name, an offset and a length. Both graphs read the
half-precision numbers of `model.bundle.weights` where they are, so they are stored once and have
the digest of the bundle. A `Cast` makes them float32; a runtime does this once, when it opens the
graph. Which tensor a number of the graph is, is found by its values, so that a wrong one cannot be
read; what is in no file of weights, such as the table of positions, stays in the graph.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from safetensors.torch import load_file
from torch import Tensor, nn

from model.bundle.weights import WEIGHTS
from model.web.graphs import ChangeInput, Graph, TextInput

SIZE_BYTES = 8  # of a safetensors file, before its header
ONNX_TYPES = {
    torch.float16: TensorProto.FLOAT16,
    torch.bfloat16: TensorProto.BFLOAT16,
    torch.float32: TensorProto.FLOAT,
}


def onnx_of(graph: Graph, weights: Path) -> onnx.ModelProto:
    """Export a graph; its weights are those of a bundle's file `weights`, read from beside it."""
    inputs = {given.name: given.tensor() for given in graph.inputs}
    exported = exported_graph(
        graph,
        inputs,
        [output.name for output in graph.outputs(inputs)],
        [_any_length(given) for given in graph.inputs],
    )
    _declare_shapes(exported.graph, graph)
    read_stored(exported.graph, weights)
    return exported


def exported_graph(
    module: nn.Module,
    inputs: Mapping[str, Tensor],
    outputs: Sequence[str],
    lengths: Sequence[Mapping[int, object]],
) -> onnx.ModelProto:
    """Export a module of tensors; `lengths` has the axes of each input that may have any length."""
    with warnings.catch_warnings():
        # torch copies its own trees in a way that it deprecates.
        warnings.simplefilter("ignore", FutureWarning)
        program = torch.onnx.export(
            module.eval(),
            tuple(inputs.values()),
            input_names=[*inputs],
            output_names=outputs,
            dynamic_shapes=(tuple(lengths),),
            dynamo=True,
            verbose=False,
        )
    assert program is not None, "only absent if it is written at once"
    exported: onnx.ModelProto = program.model_proto
    forget_origins(exported)
    return exported


def _any_length(given: TextInput | ChangeInput) -> dict[int, object]:
    # A change is exported with axes of length 1: only then is no length of a text read from it.
    axes = given.axes if isinstance(given, TextInput) else ()
    return {
        index: torch.export.Dim.DYNAMIC for index, axis in enumerate(axes) if isinstance(axis, str)
    }


def forget_origins(exported: onnx.ModelProto) -> None:
    """Remove the traces of Python calls, which are most of the file."""
    for part in (exported, exported.graph, *exported.graph.node, *exported.graph.input):
        del part.metadata_props[:]
        part.doc_string = ""
    for part in (*exported.graph.output, *exported.graph.initializer):
        del part.metadata_props[:]
    del exported.functions[:]


def _declare_shapes(exported: onnx.GraphProto, graph: Graph) -> None:
    """Declare that axes of changes may have any length, so that the runtime expects it."""
    for given, declared in zip(graph.inputs, exported.input, strict=True):
        names: list[str | int] = [*given.axes] if isinstance(given, TextInput) else []
        if isinstance(given, ChangeInput):
            names = [given.layers, *(f"{given.name} {dim}" for dim in given.dims[1:])]
        kind = declared.type.tensor_type.elem_type
        declared.type.CopyFrom(helper.make_tensor_type_proto(kind, names))
    for output in exported.output:
        kind, rank = output.type.tensor_type.elem_type, len(output.type.tensor_type.shape.dim)
        output.type.CopyFrom(helper.make_tensor_type_proto(kind, [None] * rank))
    del exported.value_info[:]


@dataclass(frozen=True)
class StoredTensor:
    """A tensor of a weights file, as the graph may hold it, and where its bytes are."""

    values: NDArray[np.float32]
    shape: tuple[int, ...]
    dtype: torch.dtype
    start: int
    size: int
    transposed: bool


def _stored(weights: Path) -> Iterator[StoredTensor]:
    with weights.open("rb") as file:
        header_size = int.from_bytes(file.read(SIZE_BYTES), "little")
        header = json.loads(file.read(header_size))
    for name, tensor in load_file(weights).items():
        start, end = header[name]["data_offsets"]
        place = (tuple(tensor.shape), tensor.dtype, SIZE_BYTES + header_size + start, end - start)
        values = tensor.float().numpy()
        yield StoredTensor(values, *place, transposed=False)
        if values.ndim > 1:
            yield StoredTensor(values.T, *place, transposed=True)


def read_stored(exported: onnx.GraphProto, weights: Path) -> None:
    """Replace each number of the graph that is a tensor of the weights file."""
    by_bytes = {
        (tensor.values.shape, tensor.values.tobytes()): tensor
        for tensor in reversed([*_stored(weights)])
    }
    nodes: list[onnx.NodeProto] = []
    for initializer in exported.initializer:
        values = numpy_helper.to_array(initializer)
        if values.dtype not in (np.float32, np.float64):
            continue
        tensor = by_bytes.get((values.shape, values.astype(np.float32).tobytes()))
        if tensor is None or not np.array_equal(values, tensor.values):
            continue
        nodes += _casts(initializer.name, tensor, initializer.data_type)
        initializer.CopyFrom(_outside(f"{initializer.name}/stored", tensor))
    own = [*exported.node]
    del exported.node[:]
    exported.node.extend([*nodes, *own])


def _casts(name: str, tensor: StoredTensor, kind: int) -> Iterator[onnx.NodeProto]:
    cast = f"{name}/float" if tensor.transposed else name
    yield helper.make_node("Cast", [f"{name}/stored"], [cast], to=kind)
    if tensor.transposed:
        yield helper.make_node("Transpose", [cast], [name], perm=[1, 0])


def _outside(name: str, tensor: StoredTensor) -> TensorProto:
    place = {"location": WEIGHTS, "offset": tensor.start, "length": tensor.size}
    outside = TensorProto(
        name=name,
        dims=tensor.shape,
        data_type=ONNX_TYPES[tensor.dtype],
        data_location=TensorProto.EXTERNAL,
    )
    for key, value in place.items():
        outside.external_data.add(key=key, value=str(value))
    return outside
