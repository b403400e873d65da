"""The stages of the lab as ONNX graphs in float64: `model.lab.stages` for a page without a server.

Axes of any length have names; the page gives tensors of the shapes that the stages take. It puts
the stages in the order of `model.lab.compute.Lab`, and computes nothing itself.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from model.lab.stages import (
    RELATIVE,
    SCORINGS_BY_NAME,
    Norm,
    StepsByName,
    StepTap,
    attention_steps,
    feed_forward,
    losses,
    positioned,
    predict,
    relative_of,
)
from model.trace.tensor_tap import CHANNEL, FEATURE, HEAD, HIDDEN, KEY, OFFSET, OUT, QUERY, VOCAB
from model.transformer import masks
from model.transformer.norms import PostNorm
from model.web.onnx_file import exported_graph

READ, VALUE, BOTH = "feature of the memory", "channel of the values", "both"
# Of the pass that is exported: all different, so that no axis is taken for another.
LENGTHS = {
    **{QUERY: 5, KEY: 6, FEATURE: 4, READ: 7, HEAD: 2, CHANNEL: 3, VALUE: 8, OUT: 9},
    **{OFFSET: 11, HIDDEN: 10, VOCAB: 12, BOTH: 1},
}
KINDS = {"real": torch.bool, "allowed": torch.bool, "window": torch.int64, "targets": torch.int64}
STAGES_FILE = "stages.json"

Given = Mapping[str, Tensor]


@dataclass(frozen=True)
class LabStage:
    """A stage: the axes of its inputs, and the function that adds its steps to a tap."""

    inputs: Mapping[str, tuple[str, ...]]
    run: Callable[[Given, StepTap], object]

    def examples(self) -> dict[str, Tensor]:
        """Return inputs of the pass that is exported."""
        return {
            name: torch.ones([LENGTHS[axis] for axis in axes], dtype=KINDS.get(name, torch.float64))
            for name, axes in self.inputs.items()
        }

    def steps(self, given: Given) -> StepsByName:
        """Return all steps by name."""
        tap = StepTap()
        self.run(given, tap)
        return tap.steps


class StageGraph(nn.Module):
    """A stage as a module of tensors."""

    def __init__(self, stage: LabStage) -> None:
        super().__init__()
        self.stage = stage

    def forward(self, *values: Tensor) -> tuple[Tensor, ...]:
        """Return all steps in their order, for inputs in theirs."""
        steps = self.stage.steps(dict(zip(self.stage.inputs, values, strict=True)))
        return tuple(step.value for step in steps.values())


def _mask(causal: bool) -> LabStage:
    def run(given: Given, tap: StepTap) -> None:
        queries, keys = (torch.arange(given[name].shape[0]) for name in ("x", "real"))
        # A page has no number of a window that is not a tensor.
        rule: masks.Mask = masks.Window(given["window"])  # type: ignore[arg-type]
        if causal:
            rule = masks.Causal() & rule
        tap("allowed", masks.allowed(rule, given["real"][None], queries, keys), (QUERY, KEY))

    return LabStage({"x": (QUERY, FEATURE), "real": (KEY,), "window": ()}, run)


def _attention(scoring: str, kind: str) -> LabStage:
    heads = (HEAD, CHANNEL)
    inputs: dict[str, tuple[str, ...]] = {
        "x": (QUERY, FEATURE),
        "memory": (KEY, READ),
        "allowed": (QUERY, KEY),
        "w_q": (FEATURE, *heads),
        "b_q": heads,
        "w_k": (READ, *heads),
        "b_k": heads,
        "w_v": (READ, HEAD, VALUE),
        "b_v": (HEAD, VALUE),
        "w_o": (HEAD, VALUE, OUT),
        "b_o": (OUT,),
        "pi": (BOTH, OFFSET),
        **({"w": heads, "b": heads} if scoring == "additive" else {}),
    }

    def run(given: Given, tap: StepTap) -> None:
        attention_steps(given, scoring, relative_of(kind, given["pi"]), tap)

    return LabStage(inputs, run)


def _normed(given: Given, tap: StepTap) -> None:
    norm = Norm(given["gamma"], given["beta"], given["epsilon"])
    tap("norm", norm(given["x"][None]), (QUERY, FEATURE))


def _added(given: Given, tap: StepTap) -> None:
    part = PostNorm(1, 0.0).eval()
    part.norm = nn.Identity()  # type: ignore[assignment]
    part(given["x"][None], lambda x: given["output"][None], tap)
    tap.steps.pop("norm")


def _loss(shift: bool) -> LabStage:
    def run(given: Given, tap: StepTap) -> None:
        losses(given["logits"], given["targets"], given["smoothing"], shift, tap)

    return LabStage({"logits": (QUERY, VOCAB), "targets": (QUERY,), "smoothing": ()}, run)


ROWS = (QUERY, FEATURE)
LAB_STAGES: dict[str, LabStage] = {
    "positions": LabStage({"x": ROWS}, lambda given, tap: positioned(given["x"], tap)),
    "mask": _mask(causal=False),
    "causal-mask": _mask(causal=True),
    **{
        f"attention-{scoring}-{kind}": _attention(scoring, kind)
        for scoring in SCORINGS_BY_NAME
        for kind in RELATIVE
    },
    "norm": LabStage({"x": ROWS, "gamma": (FEATURE,), "beta": (FEATURE,), "epsilon": ()}, _normed),
    "residual": LabStage({"x": ROWS, "output": ROWS}, _added),
    "feed-forward": LabStage(
        {
            "x": ROWS,
            "w_1": (FEATURE, HIDDEN),
            "b_1": (HIDDEN,),
            "w_2": (HIDDEN, OUT),
            "b_2": (OUT,),
        },
        feed_forward,
    ),
    "predict": LabStage(
        {"x": ROWS, "w_vocab": (FEATURE, VOCAB)},
        lambda given, tap: predict(given["x"], given["w_vocab"], tap),
    ),
    "loss": _loss(shift=False),
    "shifted-loss": _loss(shift=True),
}


def _mend(graph: onnx.GraphProto) -> None:
    """Restore the lowest number of float64, which the exporter makes −∞, since it is no float32."""
    for number in graph.initializer:
        value = numpy_helper.to_array(number)
        if value.dtype == np.float64 and np.isneginf(value).any():
            lowest = np.full_like(value, np.finfo(np.float64).min)
            number.CopyFrom(numpy_helper.from_array(lowest, number.name))


def write_lab(into: Path) -> Iterator[Path]:
    """Write the graph of every stage, and what they are; yield each file."""
    into.mkdir(parents=True, exist_ok=True)
    described = {}
    for name, stage in LAB_STAGES.items():
        examples = stage.examples()
        steps = stage.steps(examples)
        lengths = [
            {axis: torch.export.Dim.DYNAMIC for axis, dim in enumerate(axes) if dim != BOTH}
            for axes in stage.inputs.values()
        ]
        file = into / f"{name}.onnx"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of the overflow in `_mend`
            exported = exported_graph(StageGraph(stage), examples, [*steps], lengths)
        _mend(exported.graph)
        onnx.save(exported, file)
        outputs = {step: tensor.dims for step, tensor in steps.items()}
        described[name] = {"inputs": [*stage.inputs], "outputs": outputs}
        yield file
    (into / STAGES_FILE).write_text(json.dumps(described, separators=(",", ":")) + "\n")
    yield into / STAGES_FILE
