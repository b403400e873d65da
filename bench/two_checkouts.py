"""`python -m bench.two_checkouts OTHER`: ratio of this checkout's time to another's, case by case.

The checkouts run in separate processes and take turns. Processor times are compared, so that a busy
machine affects both equally. With this checkout as OTHER, the table shows the noise.
"""

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

from bench.__main__ import machine
from bench.speed_cases import SENTENCE, TARGET

HERE = Path(__file__).parents[1]
CASES = (
    "a traced pass, all weights recorded",
    "greedy decoding, alone",
    "greedy decoding, 32 in a batch",
    "greedy decoding, 14 of different lengths in a batch",
    "the same, each with a head off",
    "sampling, alone",
    "sampling from 20 tokens, 14 of different lengths in a batch",
)
# Uses only the public names of `model`, which are the same in every checkout. A new seed makes a
# greedy decoding a new request, which is not cached.
WORKER = """
import sys, time, itertools, torch
torch.set_num_threads(1)
from model import Decode, Intervention, Request, load
sentence, target = sys.argv[1:]
model, seeds = load("en-zh", "cpu"), itertools.count()
words = sentence.split()
many = [" ".join(words[:end]) for end in range(2, 16)]
off = Intervention("decoder.1.cross", "zero", 2),
def run(sentences, method="greedy", made=(), **how):
    model.run([
        Request(one, decode=Decode(method, seed=next(seeds), **how), interventions=made, select=())
        for one in sentences
    ])
cases = [
    lambda: model.trace(sentence, target=target),
    lambda: run([sentence]),
    lambda: run([sentence] * 32),
    lambda: run(many),
    lambda: run(many, made=off),
    lambda: run([sentence], "sample", temperature=0.7),
    lambda: run(many, "sample", temperature=0.7, top_k=20),
]
for line in sys.stdin:
    start = time.process_time()
    cases[int(line)]()
    print(time.process_time() - start, flush=True)
"""


class Checkout:
    """A process that runs cases with the code of a checkout."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, SENTENCE, TARGET],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, case: int) -> float:
        """Return the processor time of one run."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{case}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self) -> None:
        """End the process."""
        self.process.communicate()


def main() -> None:
    """Measure every case and print it as a row of a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m bench.two_checkouts", description=__doc__)
    parser.add_argument("other", type=Path, help="root of another checkout")
    parser.add_argument("--seconds", type=float, default=60.0, help="time for each case (60)")
    options = parser.parse_args()
    pair = [Checkout(root) for root in (HERE, options.other.resolve())]
    print(machine())
    print("\n| What | here | other | here / other (quartiles) |")
    print("|---|--:|--:|--:|")
    for case, name in enumerate(CASES):
        for checkout in pair:
            checkout.seconds(case)  # to warm up
        times: list[list[float]] = []
        while len(times) < 4 or sum(map(sum, times)) < options.seconds:
            order = (1, -1)[len(times) % 2]  # alternate which checkout is first
            times.append([checkout.seconds(case) for checkout in pair[::order]][::order])
        here_ms, other_ms = (statistics.median(side) * 1e3 for side in zip(*times, strict=True))
        low, ratio, high = statistics.quantiles([a / b for a, b in times], n=4)
        numbers = (
            f"{here_ms:.2f} ms | {other_ms:.2f} ms | **{ratio:.3f}** ({low:.3f} to {high:.3f})"
        )
        print(f"| {name} | {numbers} |")
    for checkout in pair:
        checkout.end()


if __name__ == "__main__":
    main()
