"""`python -m tests.model.hostile_files PATH…`: opens models with one file damaged at a time.

Prints a line for each case: what was done, and what came of it. Runs in a process of its own, whose
memory and processor time are limited.
"""

import json
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from model.adapters.open_model import open_model
from model.errors import FileError

SPARE_BYTES, SECONDS = 1 << 30, 60
DEEP = "[" * 100_000 + "]" * 100_000
VALUES: tuple[Any, ...] = (None, "x", -1, 0.5, 100_000_000, [], {}, [[1]], True)
LEAVES = 3  # of a JSON file, each of which becomes two of VALUES

Damage = Callable[[Path], None]


def replaced(content: bytes) -> Damage:
    def damage(path: Path) -> None:
        path.unlink()  # it may be a hard link
        path.write_bytes(content)

    return damage


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def damages(path: Path, random: Random) -> Iterator[tuple[str, Damage]]:
    """Yield ways to damage a file, with a name."""
    content = path.read_bytes()
    yield "missing", Path.unlink
    yield "directory", directory
    yield "loop", loop
    for size in (0, len(content) // 2, len(content) - 2):
        yield f"cut at {size}", replaced(content[:size])
    for place in (8, random.randrange(len(content))):
        flipped = bytearray(content)
        flipped[place] ^= 1 << random.randrange(8)
        yield f"flipped at {place}", replaced(bytes(flipped))
    if path.suffix == ".json":
        for text in (DEEP, "null", "{}", '{"a": NaN}'):
            yield f"only {text[:12]}", replaced(text.encode())
        document = json.loads(content)
        leaves = [*places(document)]
        for leaf in random.sample(leaves, min(LEAVES, len(leaves))):
            for value in random.sample(VALUES, 2):
                made = json.dumps(changed(document, leaf, value))
                yield f"{leaf} = {value}", replaced(made.encode())


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a JSON document; of long ones only the first."""
    if above:
        yield above
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for step, inner in [*items][:40]:
            yield from places(inner, (*above, step))


def changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    copy = json.loads(json.dumps(document))
    inner = copy
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return copy


def outcome(path: str) -> str:
    """Open a model and return what came of it: "opened", or the error."""
    try:
        open_model(path, "cpu")
    except FileError as error:
        return f"refused: {error.path.name}: {error.what}"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "opened"


def limited() -> None:
    """Limit this process's memory to what it has now and `SPARE_BYTES`, and its time."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + SPARE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def main(models: list[str]) -> None:
    """Damage the files of each model, named as in HEADLIGHT_MODELS."""
    assert {outcome(model) for model in models} == {"opened"}  # imports everything
    limited()
    for model in models:
        prefix, folder = model[: -len(model.removeprefix("hf:"))], Path(model.removeprefix("hf:"))
        random = Random(folder.name)
        for original in sorted(folder.iterdir()):
            for name, damage in damages(original, random):
                with tempfile.TemporaryDirectory() as there:
                    copy = Path(there) / "model"
                    shutil.copytree(folder, copy, copy_function=os.link)
                    damage(copy / original.name)
                    print(json.dumps([original.name, name, outcome(f"{prefix}{copy}")]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
