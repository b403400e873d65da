"""Work in other processes gives the same results as in this one."""

import os

import pytest
import torch

from model.train.workers import spread


def told(number: int, times: int) -> tuple[int, bool, int]:
    return number * times, os.environ.get("HERE") == str(os.getpid()), torch.get_num_threads()


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_order(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", str(os.getpid()))
    before = torch.get_num_threads()
    here = jobs == 1
    found = [*spread(told, [(4, 2), (3, 3), (1, 1)], jobs)]
    assert found == [(8, here, 1), (9, here, 1), (1, here, 1)]
    assert torch.get_num_threads() == before
