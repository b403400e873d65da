"""`python -m bench.default_decoding OTHER`: what a translated sentence costs, by decoding.

A request is a sentence without a translation, with all weights recorded, as from the page. It is
decoded greedily by the code and the weights of OTHER, an earlier checkout, greedily by these, with
and without a draft, and by a beam of 4. The ways take turns in processes of one thread each.
Processor times are compared, so that a busy machine affects all equally.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.__main__ import machine

HERE = Path(__file__).parents[1]
SENTENCES = {
    5: (
        "My father is a teacher.",
        "Where did you buy it?",
        "The children are playing outside.",
        "I have never seen snow.",
        "她每天早上喝一杯茶。",
        "我们什么时候出发？",
    ),
    12: (
        "The old cat did not cross the street because it was tired.",
        "Could you please tell me how to get to the train station?",
        "My brother bought a new car and sold the old one yesterday.",
        "We stayed at home all day because it was raining so hard.",
        "如果明天不下雨，我们就和孩子们一起去公园。",
        "我昨天在图书馆里遇到了一个多年没见的老朋友。",
    ),
    25: (
        "My mother told me that we could go to the lake this weekend, if the weather stays as warm "
        "as it has been for days.",
        "The man who lives next door has three dogs, and every morning he takes them for a long "
        "walk along the river before breakfast.",
        "When I was a child, my grandmother used to tell me stories about the war, and I always "
        "wanted to hear them again and again.",
        "The teacher asked the students to read the first two chapters of the book at home, and to "
        "write down what they did not understand.",
        "虽然他已经在这座城市里住了二十多年，但是每次回到家乡的时候，他还是会想起小时候和朋友们一起游泳的那条河。",
        "老师让学生们回家读这本书的前两章，把不明白的地方都写下来，第二天上课的时候再和大家一起讨论。",
    ),
}
WAYS = ("greedy", "greedy, no draft", "beam 4")
# Uses only the public names of `model`, which are the same in every checkout. A new sentence
# number makes a decoding a new request, which is not cached: greedy decoding ignores the seed and
# the length penalty, a beam ignores the seed.
WORKER = """
import itertools, sys, time, torch
from pathlib import Path
torch.set_num_threads(1)
from model import Decode, Request, load
cache, *sentences = sys.argv[1:]
models = {"greedy": load("en-zh", "cpu", drafts=Path(cache)), "": load("en-zh", "cpu")}
seeds = itertools.count()
for line in sys.stdin:
    way, number = line.rstrip().split("\\t")
    model = models.get(way, models[""])
    decode = Decode("greedy" if way.startswith("greedy") else "beam", seed=next(seeds))
    request = Request(sentences[int(number)], decode=decode, select=("*.weights",))
    start = time.process_time()
    model.run([request])
    print(time.process_time() - start, flush=True)
"""


class Checkout:
    """A process that translates with the code and the weights of a checkout."""

    def __init__(self, root: Path, cache: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, cache, *sum(SENTENCES.values(), ())],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, way: str, sentence: int) -> float:
        """Return the processor time of one request, in ms."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{way}\t{sentence}\n")
        self.process.stdin.flush()
        return 1e3 * float(self.process.stdout.readline())

    def end(self) -> None:
        """End the process."""
        self.process.communicate()


def main() -> None:
    """Measure every sentence and print it as a row of a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m bench.default_decoding", description=__doc__)
    parser.add_argument("other", type=Path, help="root of another checkout")
    parser.add_argument(
        "--rounds", type=int, default=20, help="requests of each way and sentence (20)"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        here, other = (
            Checkout(root, f"{folder}/{name}")
            for name, root in (("here", HERE), ("other", options.other.resolve()))
        )
        ways = [(other, WAYS[0]), *((here, way) for way in WAYS)]
        print(machine())
        print(f"\n| words | other, greedy | {' | '.join(WAYS)} |")
        print("|--:|--:|--:|--:|--:|")
        start = 0
        for words, sentences in SENTENCES.items():
            numbers = range(start, start + len(sentences))
            print(_row(words, numbers, ways, options.rounds), flush=True)
            start += len(sentences)
        here.end()
        other.end()


def _row(
    words: int, numbers: Sequence[int], ways: Sequence[tuple[Checkout, str]], rounds: int
) -> str:
    """Return the mean over the sentences of each way's median, and how many times the first's."""
    means = [0.0] * len(ways)
    for number in numbers:
        for checkout, way in [*ways, *ways]:  # to warm up
            checkout.run(way, number)
        times: list[list[float]] = []
        for turn in range(rounds):
            order = (1, -1)[turn % 2]  # alternate which is first
            times.append([checkout.run(way, number) for checkout, way in ways[::order]][::order])
        for index, way_times in enumerate(zip(*times, strict=True)):
            means[index] += statistics.median(way_times) / len(numbers)
    cells = [f"{mean:.1f} ms ({mean / means[0]:.2f})" for mean in means]
    return f"| {words} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
