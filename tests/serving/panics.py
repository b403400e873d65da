"""Tokenizers whose pattern takes so long to read a text that their library gives up."""

import json
import shutil
from pathlib import Path

from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

from model.bundle.weights import CHECKPOINTS

PATTERN = "(a+)+$|(?:(b|b)*)c"
TEXT = "a" * 28 + "!"


def panic() -> None:
    """Read the text by the pattern."""
    Split(Regex(PATTERN), "isolated").pre_tokenize_str(TEXT)


def hostile_bundle(folder: Path) -> Path:
    """Return a bundle that opens, and whose tokenizer gives up on the text."""
    bundle = Path(shutil.copytree(CHECKPOINTS / "zoo/who", folder / "hostile"))
    for name in ("SHA256SUMS", "zoo.json"):
        (bundle / name).unlink()
    path = bundle / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["pre_tokenizer"]["pattern"] = {"Regex": PATTERN}
    path.write_text(json.dumps(tokenizer))
    return bundle
