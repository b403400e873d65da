"""Requests of the lab with simple or random matrices."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.lab.lab_request import LabRequest

IDENTITY = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
SIMPLE = LabRequest(IDENTITY, IDENTITY, IDENTITY, IDENTITY)


class Drawn:
    """Random matrices of one seed."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, *shape: int) -> Any:
        return torch.randn(*shape, generator=self.generator, dtype=torch.float64).tolist()


def tensor(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def close(found: NDArray[Any], expected: Any) -> None:
    np.testing.assert_allclose(found, np.asarray(expected), atol=1e-11, rtol=1e-10)
