"""Optimisation options of a run, and the learning-rate schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True)
class TrainingOptions:
    """How to optimise. The string beside a type is the option's help on the command line.

    Raises `ValueError`, naming the value and its limit, for invalid values.
    """

    seed: Annotated[int, "seed of weights, order and dropout"] = 1
    batch: Annotated[int, "tokens per step, including padding, both sides together"] = 3000
    epochs: Annotated[int, "maximum number"] = 60
    minutes: Annotated[float | None, "stop after this total time, with start-from"] = None
    steps: Annotated[int, "stop after this many, whatever the epoch; 0: no limit"] = 0
    cooldown: Annotated[int, "the rate falls linearly to 0 over this many last steps"] = 0
    every: Annotated[int, "steps between dev losses, with a checkpoint each"] = 500
    patience: Annotated[int, "measurements without a better dev loss before stopping early"] = 10
    learning_rate: Annotated[float, "factor on the paper's schedule"] = 1.0
    warmup: Annotated[int, "steps over which the learning rate rises"] = 1000
    # The paper (section 5.3) has 0.98; closer to 1 is better for small batches.
    adam_beta2: Annotated[float, "β₂ of Adam"] = 0.98
    label_smoothing: Annotated[float, "ε_ls, section 5.4"] = 0.1
    # Wu et al. 2021
    r_drop: Annotated[float, "weight of the divergence between two dropout passes"] = 0.0
    # Garg et al. 2019
    guide: Annotated[float, "weight of the alignment loss of two heads"] = 0.0
    guide_from: Annotated[int, "first step with the alignment loss"] = 0
    # Li et al. 2018
    head_divergence: Annotated[float, "reward for encoder heads that differ"] = 0.0
    # Late dropout: Liu et al. 2023
    dropout_from: Annotated[int, "first step with dropout"] = 0
    clip: Annotated[float, "largest norm of the gradient"] = 1.0
    average: Annotated[int, "number of last checkpoints to average"] = 4
    precision: Annotated[str, "of matrix products: bf16, float32, or auto (bf16 if fast)"] = "auto"

    def __post_init__(self) -> None:
        for name in ("batch", "epochs", "every", "patience", "warmup", "average"):
            if (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        for name in ("guide", "head_divergence"):
            if (value := getattr(self, name)) < 0:
                raise ValueError(f"{name} must be at least 0, not {value}")
        if self.cooldown and not self.steps:
            raise ValueError("cooldown needs steps: the number of steps after which the rate is 0")

    def rate(self, step: int, d_model: int, begun: int = 0) -> float:
        """Return the learning rate of a step, from 1, if Adam started at step `begun`."""
        rate = learning_rate(step, d_model, self.warmup, self.learning_rate, begun)
        return rate * cooling(step, self.steps, self.cooldown)


def learning_rate(
    step: int, d_model: int, warmup: int, factor: float = 1.0, begun: int = 0
) -> float:
    """Return factor · d_model^−0.5 · min(step^−0.5, (step − begun) · warmup^−1.5), step from 1.

    Equation 3, if Adam started at step 0. If it restarts later, the rate rises from 0 again,
    equally fast: Adam's first steps are as large as the rate allows, whatever the gradient.
    """
    return float(factor * d_model**-0.5 * min(step**-0.5, (step - begun) * warmup**-1.5))


def cooling(step: int, steps: int, cooldown: int) -> float:
    """Return a factor on the rate: 1, then linearly to 0 over the last `cooldown` of `steps`.

    The paper's schedule has no end, so a run can continue as long as time allows. One cooldown at
    the end then has the effect of a decaying schedule (Hägele et al. 2024, arXiv:2405.18392).
    """
    if not cooldown or not steps:
        return 1.0
    return min(1.0, max(0, steps - step + 1) / cooldown)
