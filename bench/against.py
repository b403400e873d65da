"""`python -m bench.against OTHER`: this checkout's time over another's, case by case.

Both are imported into one process and take turns, and what counts is its processor time, so that
a busy machine slows both alike. Which is imported first, and where its weights lie in memory, makes
a percent of difference, so both are imported and loaded anew a few times, in either order. With
this checkout as OTHER the table shows the noise.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import ModuleType

import torch

from bench.__main__ import machine
from bench.cases import SENTENCE, TARGET

HERE = Path(__file__).parents[1]
ROWS = 32
seeds = count()

Times = list[tuple[float, float]]


def front_door(root: Path) -> ModuleType:
    """The package `model` of a checkout, beside those of others that were imported before."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "model"]:
        del sys.modules[name]
    sys.path.insert(0, str(root))
    try:
        import model
    finally:
        sys.path.remove(str(root))
    assert Path(model.__file__ or "").is_relative_to(root), f"{root} has no package `model`"
    return model


def cases(door: ModuleType) -> dict[str, Callable[[], object]]:
    """What is timed, with nothing but what is the same in every checkout: `model`'s front door."""
    model = door.load("en-zh", "cpu")

    def decode(rows: int) -> None:
        # The seed of a greedy decoding changes nothing but that it is not one known already.
        made = [door.Decode(seed=next(seeds)) for _ in range(rows)]
        model.run([door.Request(SENTENCE, decode=one, select=()) for one in made])

    return {
        "a traced pass, all weights recorded": lambda: model.trace(SENTENCE, target=TARGET),
        "greedy decoding, alone": lambda: decode(1),
        f"greedy decoding, {ROWS} in a batch": lambda: decode(ROWS),
    }


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one run."""
    start = time.process_time()
    work()
    return time.process_time() - start


def rounds(here: Callable[[], object], other: Callable[[], object], budget: float) -> Times:
    """Processor times of both in turns, for `budget` seconds of it, after one to warm up."""
    here(), other()
    found: Times = []
    while len(found) < 4 or sum(map(sum, found)) < budget:
        if len(found) % 2:  # the one that goes first changes
            after = seconds(other)
            found.append((seconds(here), after))
        else:
            found.append((seconds(here), seconds(other)))
    return found


def main() -> None:
    """Measures every case and prints it as a row of a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m bench.against", description=__doc__)
    parser.add_argument("other", type=Path, help="root of another checkout")
    parser.add_argument("--seconds", type=float, default=60.0, help="time for each case (60)")
    parser.add_argument("--loads", type=int, default=10, help="times that both are loaded (10)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    roots = HERE, options.other.resolve()
    seen: dict[str, Times] = {}
    for index in range(options.loads):
        order = (1, -1)[index % 2]
        ours, theirs = [cases(front_door(root)) for root in roots[::order]][::order]
        for case in ours:
            budget = options.seconds / options.loads
            seen.setdefault(case, []).extend(rounds(ours[case], theirs[case], budget))
    print(machine())
    print("\n| What | here | other | here / other (quartiles) |")
    print("|---|--:|--:|--:|")
    for case, times in seen.items():
        here, other = (statistics.median(side) * 1e3 for side in zip(*times, strict=True))
        low, ratio, high = statistics.quantiles([a / b for a, b in times], n=4)
        numbers = f"{here:.2f} ms | {other:.2f} ms | **{ratio:.3f}** ({low:.3f} to {high:.3f})"
        print(f"| {case} | {numbers} |")


if __name__ == "__main__":
    main()
