"""Measure what every head of a model does over a text of your own.

    python -m model measure corpus en-zh --text sentences.txt --out folder --index

writes `heads.json` into the folder: how often each pattern holds, measures, and similar heads. A
line of the text is one sentence; a line with a tab is a sentence and its translation, which is read
instead of the model's own. With `--index`, the folder also gets an index of every row of every
head, with the sentences, which a server searches if HEADLIGHT_CORPORA names the folder.

The model is a bundle, the name of one that ships with Headlight, or `hf:` and a folder.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from model.adapters.open_model import open_model
from model.commands import arguments
from model.measure.head_survey import survey_heads


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, the text, and the folder to write."""
    parser.add_argument("model", help="a bundle, or hf:folder")
    parser.add_argument("--text", type=Path, required=True, help="sentences, one per line")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--sentences", type=int, help="drawn from the text with seed 0 (all)")
    parser.add_argument("--title", default="", help="what the page calls the text (its file name)")
    parser.add_argument("--index", action="store_true", help="also write an index to search")
    arguments.device(parser)


def run(asked: argparse.Namespace) -> None:
    """Measure and write."""
    found = survey_heads(
        open_model(asked.model, asked.device),
        asked.text.read_text(encoding="utf-8").splitlines(),
        asked.out,
        title=asked.title or asked.text.name,
        count=asked.sentences,
        index=asked.index,
    )
    print(f"wrote {asked.out}: {found['sentences']} sentences", file=sys.stderr)
