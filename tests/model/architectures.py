"""Which architectures of `transformers` can be served: every one for text is tried, tiny.

`python -m tests.model.architectures` (`make architectures`) writes docs/models.md. It takes half
an hour; each architecture is tried in another process, so that none can stop the others.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "models.md"
SECONDS, BYTES = 120, 12 << 30  # of one architecture
NO_TEXT = "reads no text"
OUTCOMES = {
    "recorded": "served with q and k",
    "mixed": "served, some layers without q and k",
    "eager": "served from eager outputs",
    "refused": "refused",
    "fails": "fails",
    "not tried": "not tried",
}
# Errors of a model that needs more than a text, unlike those of a config that was made too small.
LACKS = (
    r"NoneType' object has no attribute '(shape|size|to|type|dtype|transpose)'|specify|required|"
    r"unexpected keyword|cannot be|must be Tensor, not NoneType|not-None|language unknown|"
    r"got \(NoneType"
)
# Their "text" is several rows of codes of sound, not the ids of a tokenizer.
OF_CODES = {
    *("CsmForConditionalGeneration", "DiaModel", "KyutaiSpeechToTextModel"),
    *("MusicgenMelodyModel", "MusicgenModel"),
}
TEXT = "The cat sat on the mat."


@dataclass(frozen=True)
class Tried:
    """What became of an architecture."""

    name: str  # of its class in MODEL_MAPPING
    outcome: str  # a key of OUTCOMES, or NO_TEXT
    reason: str = ""


def names() -> list[str]:
    """Return the classes of `MODEL_MAPPING`, in alphabetical order."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    values = (
        (value,) if isinstance(value, str) else value for value in MODEL_MAPPING_NAMES.values()
    )
    return sorted({name for several in values for name in several}, key=str.lower)


def attempt(name: str) -> Tried:
    """Make a tiny model of an architecture, open it, and run a text."""
    import transformers

    from model.adapters.huggingface.unsupported_models import RefusalError, check_reads_ids
    from tests.model.tiny_configs import NotSmallError, tiny_models
    from tests.model.tiny_tokenizers import tokenizer

    transformers.logging.set_verbosity_error()
    try:
        class_ = _class(name)
        check_reads_ids(class_)
    except RefusalError:
        return Tried(name, NO_TEXT)
    except Exception as error:  # a library that it needs
        return Tried(name, "not tried", _line(error))
    words, last = tokenizer("bytes"), None
    try:
        for model in tiny_models(class_, len(words)):
            result = _served(name, model, words)
            if result.outcome not in {"not tried", "fails"}:
                return result
            last = last or result
    except NotSmallError as error:
        cause = error.__cause__
        reason = _line(cause) if isinstance(cause, ImportError) else str(error)
        return Tried(name, "not tried", reason)
    except Exception as error:  # of a config without defaults
        return Tried(name, "not tried", _line(error))
    return last or Tried(name, "not tried", "it has no small model")


def _class(name: str) -> Any:
    """Return a class of `MODEL_MAPPING`; some are not among the names of the library itself."""
    import transformers
    from transformers.models.auto.configuration_auto import model_type_to_module_name
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    if hasattr(transformers, name):
        return getattr(transformers, name)
    kind = next(kind for kind, names in MODEL_MAPPING_NAMES.items() if name in names)
    module = model_type_to_module_name(kind)
    return getattr(import_module(f"transformers.models.{module}.modeling_{module}"), name)


def _served(name: str, model: Any, words: Any) -> Tried:
    """Return what becomes of a tiny model."""
    import torch

    from model.adapters.huggingface.models_in_memory import wrap
    from model.adapters.huggingface.unsupported_models import RefusalError

    try:
        opened = wrap(model, words)
        trace = opened.trace(TEXT)
    except RefusalError as error:
        reason = str(error).partition("cannot be served: ")[2].partition("; run it yourself")[0]
        if reason.startswith("it reads no text"):
            return Tried(name, NO_TEXT)
        fails = "(" in reason and "does not run" in reason
        if fails and name not in OF_CODES and not re.search(LACKS, reason):
            return Tried(name, "not tried", f"its small model fails {reason[reason.index('(') :]}")
        return Tried(name, "refused", reason)
    except Exception as error:
        return Tried(name, "fails", _line(error))
    finite = all(bool(torch.isfinite(tensor.value).all()) for tensor in trace.tensors.values())
    if not finite:
        return Tried(name, "fails", "its weights are not finite")
    return Tried(name, opened.route)


def _line(error: Exception) -> str:
    """Return why no model could be made, or ran, as a line."""
    if isinstance(error, ImportError) and (library := _library(error)):
        return f"it needs the library {library}, which is not installed"
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first[:160]}".rstrip(": ")


def _library(error: ImportError) -> str:
    said = re.search(r"requires the (\S+) library|No module named '(\w+)'", str(error))
    return next(filter(None, said.groups()), "") if said else ""


def tried(wanted: Sequence[str], seconds: float = SECONDS) -> Iterator[Tried]:
    """Try architectures in other processes; one that ends or takes too long stops no other."""
    left = list(wanted)
    while left:
        command = [sys.executable, "-m", "tests.model.architectures", "--try", str(seconds), *left]
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout
            for line in process.stdout:
                if line.startswith("{"):
                    left.pop(0)
                    yield Tried(**json.loads(line))
        code = process.returncode
        if left and code:
            why = f"takes more than {seconds:g} s" if code == -signal.SIGALRM else f"ends ({code})"
            yield Tried(left.pop(0), "not tried", f"the process that tries it {why}")


def _work(seconds: int, wanted: Sequence[str]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    for name in wanted:
        signal.alarm(seconds)
        print(json.dumps(asdict(attempt(name))), flush=True)
    signal.alarm(0)


HEAD = """# Architectures

`transformers` {version} has {all} classes in `MODEL_MAPPING`, of which {others} read no text \
(images, sound or numbers). The other {texts}, tiny and with random weights, were opened and run \
on a text:

| | |
|---|---|
{counts}

- **Served with q and k**: all that [is recorded](huggingface.md#how-attention-is-recorded).
- **Served from eager outputs**: [weights alone](huggingface.md#models-without-q-and-k).
- **Refused**: in [one sentence](huggingface.md#models-that-are-refused); of most of these, arrays \
of their attention [can be shown](python.md#attention-from-elsewhere).
- **Fails**: with an error, when it is opened or run.
- **Not tried**: it needs a library that is not installed with these, or no small model of it \
could be made, so nothing is known.

A class here is an architecture without a head; those with heads have the same attention. \
`make architectures` writes this page in about half an hour, and \
[`test_architectures.py`](../tests/model/test_architectures.py) tries some of its rows again.

| Class | Outcome | Why |
|---|---|---|
{rows}
"""


def page(results: Sequence[Tried], version: str) -> str:
    """Return docs/models.md."""
    texts = [result for result in results if result.outcome != NO_TEXT]
    counts = Counter(result.outcome for result in texts)
    return HEAD.format(
        version=version,
        all=len(results),
        others=len(results) - len(texts),
        texts=len(texts),
        counts="\n".join(f"| {OUTCOMES[key]} | {counts[key]} |" for key in OUTCOMES if counts[key]),
        rows="\n".join(
            f"| `{result.name}` | {OUTCOMES[result.outcome]} | {_escaped(result.reason)} |"
            for result in texts
        ),
    )


def rows(text: str) -> list[Tried]:
    """Return the rows of docs/models.md."""
    outcomes = {words: key for key, words in OUTCOMES.items()}
    found = re.findall(r"^\| `(\w+)` \| ([^|]+) \| (.*) \|$", text, re.MULTILINE)
    return [Tried(name, outcomes[words], reason) for name, words, reason in found]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--try", dest="seconds", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, help="results so far, continued if it exists")
    parser.add_argument("names", nargs="*", help="classes (all of MODEL_MAPPING)")
    options = parser.parse_args()
    if options.seconds:
        _work(options.seconds, options.names)
        return
    known = {}
    if options.json and options.json.exists():
        rows = map(json.loads, options.json.read_text().splitlines())
        known = {row["name"]: Tried(**row) for row in rows}
    wanted = options.names or names()
    for result in tried([name for name in wanted if name not in known]):
        known[result.name] = result
        print(f"{result.name}: {result.outcome} {result.reason}", flush=True)
        if options.json:
            with options.json.open("a") as file:
                file.write(json.dumps(asdict(result)) + "\n")
    if not options.names:
        import transformers

        PAGE.write_text(page([known[name] for name in wanted], transformers.__version__))


if __name__ == "__main__":
    main()
