"""The batch tap: one copy for all rows that change, and the caller's tensor is not modified."""

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from model.trace.interventions import Cell, Intervention
from model.trace.tensor_tap import HEAD, KEY, QUERY, SOURCE, BatchTap, Recorder

PLACE = "encoder.0.self"
MADE = [
    (),
    (Intervention(PLACE, "zero", 1),),
    (Intervention(PLACE, "set", 0, Cell(1, 2, 0.5, renormalise=True)),),
    (Intervention("encoder.1.self", "zero", 0),),
    (Intervention(PLACE, "set", None, Cell(0, 0, 0.9)), Intervention(PLACE, "zero", 2)),
]


class Copies(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the operations that create a new tensor of a given size."""

    def __init__(self, size: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.size = size
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        made = func(*args, **(kwargs or {}))
        if isinstance(made, Tensor) and made.numel() == self.size and not func.is_view:
            self.count += func._schema.name in ("aten::clone", "aten::cat", "aten::_to_copy")
        return made


def recorders(made: list[tuple[Intervention, ...]]) -> list[Recorder]:
    """Return one recorder per row; every second one keeps the weights."""
    names = f"{PLACE}.weights"
    return [
        Recorder((names,) if n % 2 else (), {SOURCE: 4}, interventions=m)
        for n, m in enumerate(made)
    ]


@pytest.mark.parametrize("made", [MADE, MADE[:1] * 3, MADE[1:2] * 6])
def test_each_row_is_changed_as_alone(made: list[tuple[Intervention, ...]]) -> None:
    given = torch.rand(len(made), 3, 4, 4)
    before = given.clone()
    rows = recorders(made)
    tap = BatchTap(rows).at(PLACE, query=SOURCE, key=SOURCE)
    with Copies(given.numel()) as copies:
        changed = tap("weights", given, (HEAD, QUERY, KEY))
    alone = recorders(made)
    over = {QUERY: SOURCE, KEY: SOURCE}
    expected = [
        row.replace(f"{PLACE}.weights", value, (HEAD, QUERY, KEY), over)
        for row, value in zip(alone, before, strict=True)
    ]
    assert torch.equal(changed, torch.stack(expected))
    assert torch.equal(given, before)
    for row, value in zip(rows, expected, strict=True):
        for tensor in row.tensors.values():
            assert torch.equal(tensor.value, value)
        assert bool(row.tensors) is bool(row.select)
    unchanged = made == MADE[:1] * 3
    assert (changed is given) is unchanged
    assert copies.count == (0 if unchanged else 1)


def test_gradients_pass_through_a_change() -> None:
    given = torch.rand(2, 3, 4, 4, requires_grad=True)
    tap = BatchTap(recorders(MADE[:2])).at(PLACE, query=SOURCE, key=SOURCE)
    tap("weights", given * 1, (HEAD, QUERY, KEY)).sum().backward()  # type: ignore[no-untyped-call]
    assert given.grad is not None
    expected = torch.ones_like(given)
    expected[1, 1] = 0
    assert torch.equal(given.grad, expected)
