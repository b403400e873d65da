"""The random numbers of one run, separate from all others."""

from __future__ import annotations

from types import TracebackType

import torch
from torch import Tensor


class Chance:
    """Gives torch a run's random states, since its layers use the global generators.

    Inside ``with chance:`` torch draws from the run's states, one on the CPU and one on the run's
    device; outside, torch's own sequence continues as if the run had drawn nothing, and does not
    affect the run. The global states belong to the process: two runs at once need a process each.
    """

    def __init__(self, seed: int, device: torch.device) -> None:
        kinds = {torch.device("cpu"), device} if device.type == "cuda" else {torch.device("cpu")}
        self.states = {
            kind: torch.Generator(kind).manual_seed(seed).get_state()
            for kind in sorted(kinds, key=str)
        }

    def __enter__(self) -> None:
        self._swap()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._swap()

    def _swap(self) -> None:
        """Exchange the run's states with torch's."""
        for device, own in self.states.items():
            if device.type == "cpu":
                self.states[device] = torch.get_rng_state()
                torch.set_rng_state(own)
            else:
                self.states[device] = torch.cuda.get_rng_state(device)
                torch.cuda.set_rng_state(own, device)

    def tensors(self) -> dict[str, Tensor]:
        """Return the states by name, for a file: ``random.cpu`` and possibly ``random.cuda``."""
        return {f"random.{device.type}": state for device, state in self.states.items()}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Restore the states returned by `tensors`; a device not among them keeps its own."""
        for device, state in self.states.items():
            self.states[device] = tensors.get(f"random.{device.type}", state)
