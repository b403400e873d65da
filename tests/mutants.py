"""How much the tests of the core notice: one small mistake at a time, made in a copy of the code.

    python -m tests.mutants                     a sample of every folder of `TESTS`
    python -m tests.mutants app/rooms           a sample of one folder, or of one file
    python -m tests.mutants --sample 0 FILE     every mutant of a file
    python -m tests.mutants --seed 2            another sample

A mutant that no test of its file fails on has survived. Some survivors do what the original does;
they are for eyes to judge. A sample is drawn by the mutants' own words, so that it stays the same
while the code around them changes.
"""

import argparse
import ast
import copy
import hashlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import accumulate, chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPIED = ("app", "model", "tests")
# Imported once, before the processes that run tests are forked; nothing of this project.
LIBRARIES = (
    "aiosqlite", "fastapi", "httpx", "hypothesis", "jinja2", "numpy", "psutil", "pydantic_settings",
    "pytest", "redis.asyncio", "safetensors.torch", "sqlalchemy.ext.asyncio", "tokenizers",
    "torch._dynamo", "transformers", "xdist",
)  # fmt: skip
# Seconds of processor time, and of the clock, after which a mutant has been noticed: it hangs.
LIMIT = 120
HANGS = 900

# Files, or folders for their other files, and the tests that are about them, quick ones first:
# `rooms/bus` is tests/rooms/test_bus.py, `tap` is tests/model/test_tap.py.
TESTS: dict[str, str] = {
    "model/trace": "tap trace attentions intervene feature_changes",
    "model/trace/attentions.py": "attentions direct_effect",
    "model/trace/interventions.py": "tap intervene mean_ablation "
    "feature_changes refused_feature_changes bind_interventions",
    "model/trace/record.py": "trace inside tap",
    "model/adapters": "trace adapters capabilities decode",
    "model/adapters/encoder_decoder/passes.py": "trace adapters sweep",
    "model/adapters/encoder_decoder/drafts.py": "draft draft_export",
    "model/adapters/encoder_decoder/encoder_decoder_adapter.py": "trace adapters decode long_own",
    "model/adapters/requests/adapter_interface.py": "head_slices trace adapters capabilities",
    "model/adapters/requests/trace.py": "trace adapters decode long_own",
    "model/adapters/requests/request.py": "patch batch_independence path_patches adapters",
    "model/adapters/requests/bind_interventions.py": "bind_interventions intervene path_patches",
    "model/adapters/sweep.py": "sweep sweep_patches sweep_one_text",
    "model/adapters/sweep_changes.py": "sweep sweep_one_text",
    "model/adapters/encoder_decoder/description.py": "score_terms",
    "model/adapters/requests/validate.py": "adapters intervene refused_feature_changes "
    "score_terms patch path_patches attribution",
    "app/engine": "engine/engine engine/fairness traces/trace",
    "app/http/tasks_and_caches.py": "http/byte_cache",
    "app/engine/fair_queue.py": "engine/fair_queue engine/fairness",
    "app/engine/streamed_replies.py": "engine/engine traces/decode engine/stopping traces/sweep",
    "app/engine/engine.py": "engine/engine engine/fairness engine/stopping",
    "app/engine/engine_process.py": "engine/processes engine/memory",
    "app/engine/long_text_pictures.py": "long_texts/passes long_texts/progress",
    "app/engine/child_process.py": "engine/messages",
    "app/engine/runners.py": "long_texts/passes engine/processes",
    "app/engine/jobs.py": "engine/prices",
    "app/engine/load_shedding.py": "engine/engine engine/fairness",
    "app/engine/reply_formats.py": "traces/tensor_selection traces/npz traces/trace "
    "handouts/packing",
    "app/engine/model_listing.py": "models/training_history",
    "app/engine/model_thread.py": "engine/messages engine/processes",
    "app/rooms": "rooms/random_events rooms/classroom rooms/questions_on_two_servers",
    "app/rooms/asking.py": "rooms/asking rooms/challenges rooms/classroom rooms/challenge_goals",
    "app/rooms/answer_files.py": "rooms/asking http/csv_file",
    "app/rooms/rooms_across_servers.py": "rooms/bus rooms/random_events",
    "app/rooms/rooms_in_redis.py": "rooms/bus rooms/random_events",
    "app/rooms/room_document.py": "rooms/asking http/csv_file",
    "app/rooms/members.py": "rooms/wall",
    "app/store": "store/store shares/states shares/shares",
    "app/assignments/store.py": "assignments/store assignments/assignments",
    "app/collections/store.py": "collections/store collections/collections",
    "app/command.py": "shares/commands",
    "app/operator_commands.py": "shares/commands shares/states shares/limits",
    "app/shares/store.py": "store/store shares/limits",
    "app/store/store.py": "shares/limits collections/store",
    "app/store/disk_files.py": "store/problems",
    "app/store/storage_errors.py": "store/problems store/faults",
}  # fmt: skip

OPPOSITES: dict[type[ast.AST], list[type[ast.AST]]] = {
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.Is: [ast.IsNot], ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn], ast.NotIn: [ast.In], ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE], ast.GtE: [ast.Gt, ast.Lt], ast.And: [ast.Or], ast.Or: [ast.And],
    ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Div], ast.Div: [ast.Mult],
    ast.FloorDiv: [ast.Mult], ast.Mod: [ast.Mult], ast.BitAnd: [ast.BitOr], ast.BitOr: [ast.BitAnd],
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One changed expression or statement of a file."""

    file: str
    scope: str
    line: int
    before: str
    after: str
    span: tuple[int, int]  # in bytes of the file
    copies: int  # equal changes before it in its scope

    def rank(self, seed: str) -> str:
        """Return a random number that depends only on what is changed, and in which function."""
        words = (seed, self.file, self.scope, self.before, self.after, str(self.copies))
        return hashlib.sha256("\0".join(words).encode()).hexdigest()

    def __str__(self) -> str:
        before, after = (" ".join(text.split())[:70] for text in (self.before, self.after))
        return f"{self.file}:{self.line} {self.scope}: {after or 'nothing'}    (was {before})"


def replaced(node: ast.AST, **fields: object) -> ast.AST:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def other_operators(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[operator]):
            yield from (
                replaced(node, ops=[other()]) for other in OPPOSITES.get(type(operator), ())
            )
        case ast.BoolOp(op=operator) | ast.BinOp(op=operator):
            yield from (replaced(node, op=other()) for other in OPPOSITES.get(type(operator), ()))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand


def other_values(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Call(keywords=keywords):
            for i in range(len(keywords)):
                yield replaced(node, keywords=keywords[:i] + keywords[i + 1 :])


def omissions(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Return(value=ast.expr()):
            yield ast.Return(None)
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.AugAssign():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()


def conditions(node: ast.AST) -> Iterator[tuple[ast.expr, ast.AST]]:
    """Yield the conditions of a statement or comprehension, each with what replaces it."""
    tests = [node.test] if isinstance(node, ast.If | ast.While) else []
    tests += node.ifs if isinstance(node, ast.comprehension) else []
    for test in tests:
        yield test, ast.Constant(True)
        if not isinstance(node, ast.While):
            yield test, ast.Constant(False)


class Finder(ast.NodeVisitor):
    """Collects every small mistake that can be made in a file."""

    def __init__(self, file: str, code: bytes) -> None:
        self.file, self.code, self.scope = file, code, ""
        lines = code.splitlines(keepends=True)
        self.starts = [0, *accumulate(len(line) for line in lines)]
        self.mutants: list[Mutant] = []
        self.visit(ast.parse(code))

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr):
            return
        around = self.scope
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self.scope = f"{around}.{node.name}".lstrip(".")
        if isinstance(node, ast.expr | ast.stmt):
            for change in chain(other_operators(node), other_values(node), omissions(node)):
                self._put(node, change)
        for test, change in conditions(node):
            self._put(test, change)
        for name, value in ast.iter_fields(node):
            if name not in {"annotation", "returns", "decorator_list", "pattern"}:
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        self.visit(child)
        self.scope = around

    def _put(self, node: ast.expr | ast.stmt, change: ast.AST) -> None:
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        after = ast.unparse(ast.fix_missing_locations(change))
        after = f"({after})" if isinstance(node, ast.expr) else after
        before, scope = self.code[start:end].decode(), self.scope
        copies = sum((m.scope, m.before, m.after) == (scope, before, after) for m in self.mutants)
        self.mutants.append(
            Mutant(self.file, scope, node.lineno, before, after, (start, end), copies)
        )


def mutants(root: Path, file: str) -> list[Mutant]:
    """Return every small mistake that can be made in a file."""
    return Finder(file, (root / file).read_bytes()).mutants


def suite_of(file: str) -> list[str]:
    """Return the test files that are about a file."""
    names = TESTS.get(file) or TESTS[str(Path(file).parent)]
    paths = (name if "/" in name else f"model/{name}" for name in names.split())
    return ["tests/{}/test_{}.py".format(*path.split("/")) for path in paths]


class Checkout:
    """A copy of the project in which one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        for path in ROOT.iterdir():
            if path.name in COPIED:
                checkpoints = shutil.ignore_patterns("checkpoints")
                shutil.copytree(path, folder / path.name, ignore=checkpoints)
            elif path.name != ".git":
                (folder / path.name).symlink_to(path)
        (folder / "model/checkpoints").symlink_to(ROOT / "model/checkpoints")

    def passes(self, file: str, code: bytes | None = None) -> bool:
        """Return whether the tests of a file pass, with other code in it."""
        path = self.folder / file
        original = path.read_bytes()
        # Compiled code is used if its file has the time and size of the source.
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
        path.write_bytes(original if code is None else code)
        try:
            if pid := os.fork():
                return ended(pid) == 0
            self._test(suite_of(file))
        finally:
            path.write_bytes(original)
        raise AssertionError

    def _test(self, files: list[str]) -> None:
        """Run tests in this process, which ends."""
        status = 3
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
            os.chdir(self.folder)
            sys.path[:] = [str(self.folder), *(p for p in sys.path if p not in ("", str(ROOT)))]
            sys.dont_write_bytecode = True
            for name in [n for n in sys.modules if n.split(".")[0] in COPIED]:
                del sys.modules[name]
            nowhere = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2) if "MUTANTS_OUTPUT" not in os.environ else (0,):
                os.dup2(nowhere, number)
            pytest = import_module("pytest")
            base = f"--basetemp={self.folder.with_suffix('.tests')}"
            options = [
                "-x",
                "-q",
                "--assert=plain",
                "--reruns=0",
                "-pno:cacheprovider",
                "-pno:playwright",
                base,
            ]
            status = int(pytest.main([*options, *files]))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)


def ended(pid: int) -> int:
    """Wait for a group of processes; returns the exit status of the first, killed if it hangs."""
    deadline = time.monotonic() + HANGS
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done or time.monotonic() > deadline:
            break
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if not done:
        _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def chosen(paths: list[str], sample: int, seed: str = "0") -> dict[str, list[Mutant]]:
    """Return the mutants of each path: of a folder's files together, as many as the sample has."""
    drawn = {}
    for path in paths:
        files = [ROOT / path] if path.endswith(".py") else sorted((ROOT / path).glob("*.py"))
        every = [m for file in files for m in mutants(ROOT, str(file.relative_to(ROOT)))]
        drawn[path] = sorted(every, key=lambda mutant: mutant.rank(seed))[: sample or None]
        drawn[path].sort(key=lambda mutant: (mutant.file, mutant.line))
    return drawn


def hunt(checkout: Checkout, path: str, drawn: list[Mutant]) -> tuple[int, int]:
    """Print the mutants that survive; returns how many were killed, and of how many."""
    for file in sorted({mutant.file for mutant in drawn}):
        if not checkout.passes(file):
            print(f"{file}: not counted, its tests fail as it is", flush=True)
            drawn = [mutant for mutant in drawn if mutant.file != file]
    survived = []
    for mutant in drawn:
        code = (ROOT / mutant.file).read_bytes()
        start, end = mutant.span
        if checkout.passes(mutant.file, code[:start] + mutant.after.encode() + code[end:]):
            survived.append(mutant)
    killed = len(drawn) - len(survived)
    print(f"{path}: {killed} of {len(drawn)} killed", *survived, sep="\n  ", flush=True)
    return killed, len(drawn)


def main() -> None:
    """Print how many mutants the tests notice, and list the others."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=main.__doc__)
    folders = [path for path in TESTS if not path.endswith(".py")]
    parser.add_argument("paths", nargs="*", default=folders, metavar="PATH")
    parser.add_argument("--sample", type=int, default=12, help="mutants per path; 0: all of them")
    parser.add_argument("--seed", default="0", help="draws another sample")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    for library in LIBRARIES:
        import_module(library)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL runs as another user
        checkout = Checkout(Path(folder) / "copy")
        drawn = chosen(options.paths, options.sample, options.seed)
        counts = [hunt(checkout, path, some) for path, some in drawn.items()]
    killed, made = (sum(column) for column in zip(*counts, strict=True))
    print(f"{killed} of {made} killed, {100 * killed / max(made, 1):.1f} %")


if __name__ == "__main__":
    main()
