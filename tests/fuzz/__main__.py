"""`make fuzz`: send random requests to every operation of the API, for any length of time.

    python -m tests.fuzz --seconds 3600
    python -m tests.fuzz --only "POST /api/trace" --seed 7 --seconds 60

Exits with 1 if a reply did not match the reference, and prints how to repeat the request.
"""

import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from itertools import count
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from app.engine.model_catalog import Catalog
from app.main import create_app
from app.settings import Settings
from tests.fuzz.contract import Asked, Contract, contract_of

AT_ONCE = 50  # requests per operation and turn
OFTEN = settings(
    max_examples=AT_ONCE,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def main() -> int:
    """Send requests until the time is up."""
    asked = _arguments()
    folder = tempfile.TemporaryDirectory(prefix="headlight-fuzz-")
    many = 1_000_000
    chosen = Settings(
        data_dir=Path(folder.name),
        max_shares_per_minute=many,
        max_rooms_per_minute=many,
        max_room_tries_per_minute=many,
    )
    app = create_app(chosen, Catalog.load(chosen.bundles, chosen.device))
    with folder, contract_of(app) as contract:
        labels = [label for label in contract.operations if asked.only in label]
        if not labels:
            sys.exit(f"no operation has {asked.only!r} in its name")
        seen: dict[str, Counter[int]] = {label: Counter() for label in labels}
        end = time.monotonic() + asked.seconds
        for number in count(asked.seed):
            for label in labels:
                if not _turn(contract, label, number, seen[label]):
                    return 1
                if time.monotonic() > end:
                    return _report(seen)
    return 1


def _turn(contract: Contract, label: str, number: int, seen: Counter[int]) -> bool:
    """Send some requests of an operation; return False if a reply did not match."""

    @seed(number)
    @OFTEN
    @given(contract.cases(label))
    def holds(asked: Asked) -> None:
        seen[contract.ask(asked).status_code] += 1

    try:
        holds()
    except Exception as error:
        print(error, *getattr(error, "__notes__", ()), sep="\n", file=sys.stderr)
        print(f'again: python -m tests.fuzz --only "{label}" --seed {number}', file=sys.stderr)
        return False
    return True


def _report(seen: dict[str, Counter[int]]) -> int:
    for label, statuses in seen.items():
        told = "  ".join(f"{status}: {times}" for status, times in sorted(statuses.items()))
        print(f"{label:42} {told}")
    total = sum(one.total() for one in seen.values())
    print(f"{total} requests, and every answer is as the reference promises")
    return 0


def _arguments() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", default="", metavar="TEXT", help="operations with this in them")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
