"""How a run optimises, and the learning rate's course."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True)
class TrainingOptions:
    """How to optimise. The string beside a type is the option's help on the command line.

    Raises `ValueError`, naming the value and its bound, for what makes no sense.
    """

    seed: Annotated[int, "of weights, order and dropout"] = 1
    batch: Annotated[int, "tokens a step, padding included, both sides together"] = 3000
    epochs: Annotated[int, "at most"] = 60
    minutes: Annotated[float | None, "stop after so long in all, with a run taken over"] = None
    steps: Annotated[int, "stop after so many, whatever the epoch; 0: no such end"] = 0
    cooldown: Annotated[int, "the rate falls in a line to 0 over the last so many steps"] = 0
    every: Annotated[int, "steps between two looks at the dev loss, a checkpoint each"] = 500
    patience: Annotated[int, "looks without a better dev loss before stopping early"] = 10
    learning_rate: Annotated[float, "a factor on the paper's schedule"] = 1.0
    warmup: Annotated[int, "steps"] = 1000
    # Section 5.3 has 0.98; nearer to 1 for batches that are small.
    adam_beta2: Annotated[float, "β₂ of Adam"] = 0.98
    label_smoothing: Annotated[float, "ε_ls, section 5.4"] = 0.1
    # Wu et al. 2021
    r_drop: Annotated[float, "weight of the divergence between two dropout passes"] = 0.0
    # Garg et al. 2019
    guide: Annotated[float, "weight of the loss that teaches two heads to align"] = 0.0
    guide_from: Annotated[int, "the first step with it"] = 0
    # Late dropout: Liu et al. 2023
    dropout_from: Annotated[int, "the first step with dropout"] = 0
    clip: Annotated[float, "largest norm of the gradient"] = 1.0
    average: Annotated[int, "so many of the last checkpoints are averaged"] = 4
    precision: Annotated[str, "of matrix products: bf16, float32, or bf16 where it is fast"] = (
        "auto"
    )

    def __post_init__(self) -> None:
        for name in ("batch", "epochs", "every", "patience", "warmup", "average"):
            if (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        if self.guide < 0:
            raise ValueError(f"guide must be at least 0, not {self.guide}")
        if self.cooldown and not self.steps:
            raise ValueError("a cooldown needs steps, at whose end the rate is 0")

    def rate(self, step: int, d_model: int, begun: int = 0) -> float:
        """The learning rate of a step, from 1; Adam began at step `begun`."""
        rate = learning_rate(step, d_model, self.warmup, self.learning_rate, begun)
        return rate * cooling(step, self.steps, self.cooldown)


def learning_rate(
    step: int, d_model: int, warmup: int, factor: float = 1.0, begun: int = 0
) -> float:
    """factor · d_model^−0.5 · min(step^−0.5, (step − begun) · warmup^−1.5), step from 1.

    Equation 3, where Adam began at step 0. Where it began anew at a later one, the rate rises from
    0 once more, as steeply: its first steps are as large as the rate allows, whatever the gradient.
    """
    return float(factor * d_model**-0.5 * min(step**-0.5, (step - begun) * warmup**-1.5))


def cooling(step: int, steps: int, cooldown: int) -> float:
    """A factor on the rate: 1, then a line down to 0 over the last `cooldown` of `steps`.

    The paper's schedule has no end, so a run can go on for as long as there is time; what a rate
    near 0 brings is had by cooling down once, at the end (Hägele et al. 2024, arXiv:2405.18392).
    """
    if not cooldown or not steps:
        return 1.0
    return min(1.0, max(0, steps - step + 1) / cooldown)
