"""What a training run is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingOptions:
    """How to optimise; the shape of the model is `ModelConfig`'s."""

    seed: int = 1
    batch: int = 3000  # tokens a step, padding included, source and target together
    epochs: int = 60
    minutes: float | None = None  # stop after so long in all, with a run that was taken over
    steps: int = 0  # stop after so many, whatever the epoch; 0: no such end
    cooldown: int = 0  # the rate falls in a line to 0 over the last so many of the steps
    every: int = 500  # steps between two looks at the dev loss, each with a checkpoint kept
    patience: int = 10  # looks without a better dev loss before stopping early
    learning_rate: float = 1.0  # a factor on the paper's schedule
    warmup: int = 1000  # steps
    adam_beta2: float = 0.98  # section 5.3; nearer to 1 for batches that are small
    label_smoothing: float = 0.1  # ε_ls, section 5.4
    r_drop: float = 0.0  # weight of the divergence between two dropout passes (Wu et al. 2021)
    guide: float = 0.0  # weight of what draws two heads to what tokens translate (Garg et al. 2019)
    guide_from: int = 0  # the first step with it
    dropout_from: int = 0  # the first step with dropout: late dropout (Liu et al. 2023)
    clip: float = 1.0  # largest norm of the gradient
    average: int = 4  # so many of the last checkpoints are averaged
    precision: str = "auto"  # of matrix products: "bf16", "float32"; auto: bf16 where it is fast

    def __post_init__(self) -> None:
        for name in ("batch", "epochs", "every", "patience", "warmup", "average"):
            if (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        if self.guide < 0:
            raise ValueError(f"guide must be at least 0, not {self.guide}")
        if self.cooldown and not self.steps:
            raise ValueError("a cooldown needs steps, at whose end the rate is 0")


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
