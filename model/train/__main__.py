"""Trains a model on parallel text and writes it as a bundle.

    python -m model.train runs/mine --train pairs.tsv --dev dev.tsv

Run the same line again after an interruption: it goes on where it was. The result is
`runs/mine/bundle`, which the server takes as HEADLIGHT_MODELS="mine=runs/mine/bundle".
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import Field, asdict, fields, replace
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout

from model.bundle.card import TRAINING
from model.bundle.weights import TOKENIZER, save_bundle
from model.text.tokens import Tokenizer
from model.train.augment import augment
from model.train.clean import clean, unseen
from model.train.data import Corpus
from model.train.guide import check, taught
from model.train.loop import Run, say
from model.train.options import TrainingOptions
from model.train.pairs import Languages, TextPair, TrainingExample, both_ways, read_back, read_pairs
from model.train.state import STATE, take_over
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer

HELD = "run.json"
SHAPE = (
    "d_model",
    "heads",
    "d_ff",
    "encoder_layers",
    "decoder_layers",
    "dropout",
    "attention_dropout",
    "norm",
    "max_tokens",
)


def parser() -> argparse.ArgumentParser:
    """The command line; options of the run and of the model come from their dataclasses."""
    made = argparse.ArgumentParser(
        prog="python -m model.train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("folder", type=Path, help="where the run keeps everything")
    made.add_argument("--train", type=Path, nargs="+", required=True, help="TSV files, .gz or not")
    made.add_argument("--dev", type=Path, nargs="+", required=True, help="TSV files to stop by")
    made.add_argument(
        "--held-out", type=Path, nargs="+", default=[], help="TSV files that train must not touch"
    )
    made.add_argument(
        "--back", type=Path, nargs="+", default=[], help="TSV files that model.train.back made"
    )
    made.add_argument(
        "--start-from", type=Path, help="a run's folder or a bundle, from which this one goes on"
    )
    made.add_argument(
        "--soften", type=float, default=1.0, help="times W_q and W_k of the run taken over (1)"
    )
    made.add_argument("--raw", action="store_true", help="neither tidy nor filter the pairs")
    made.add_argument("--languages", nargs=2, default=["en", "zh"], metavar=("A", "B"))
    made.add_argument("--one-way", action="store_true", help="train A to B only")
    made.add_argument("--name", default="English ↔ Chinese", help="what the page calls the model")
    made.add_argument("--vocabulary", type=int, default=8000, help="subwords (8000)")
    made.add_argument("--augment", type=float, default=0.15, help="made examples a real one (0.15)")
    made.add_argument("--device", default="auto", help="auto, cpu or cuda (auto)")
    for option in fields(TrainingOptions):
        _add(made, option)
    for option in fields(ModelConfig):
        if option.name in SHAPE:
            _add(made, option)
    return made


def _add(made: argparse.ArgumentParser, option: Field[Any]) -> None:
    kind = str if isinstance(option.default, str) else float
    if isinstance(option.default, int):
        kind = int  # type: ignore[assignment]
    flag = "--" + option.name.replace("_", "-")
    made.add_argument(flag, type=kind, default=option.default, help=f"({option.default})")


def main(arguments: Sequence[str] | None = None) -> Path:
    """Trains, or goes on training; returns the bundle's folder.

    Exits where another process trains in the folder: two would overwrite each other's state.
    """
    asked = parser().parse_args(arguments)
    asked.folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(asked.folder / "lock", timeout=0):
            return _train(asked)
    except Timeout:
        sys.exit(f"{asked.folder} is being trained by another process")


def _train(asked: argparse.Namespace) -> Path:
    options = TrainingOptions(
        **{field.name: getattr(asked, field.name) for field in fields(TrainingOptions)}
    )
    device = torch.device(
        asked.device if asked.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    )
    torch.manual_seed(options.seed)
    first, second = asked.languages
    languages = (first, second)
    held = _held(asked.folder, vars(asked))
    pairs = _tidied(_pairs(asked.train), asked, languages)
    if asked.start_from and not (asked.folder / STATE).is_file():
        take_over(asked.start_from, asked.folder, asked.soften)
    tokenizer = _tokenizer(asked.folder, pairs, asked.vocabulary, languages)
    shape = {name: getattr(asked, name) for name in SHAPE}
    config = ModelConfig(vocabulary=len(tokenizer), **shape)
    if options.guide:
        check(config)
    # Not before: a line that fails holds the folder to nothing.
    (asked.folder / HELD).write_text(held)
    train = _examples(pairs, languages, asked.one_way)
    train += _back(asked, languages)
    train += augment(train, asked.augment, options.seed)
    dev = _examples(_pairs(asked.dev), languages, asked.one_way)
    # A guide looks inside; on a CPU torch's own kernel is slow in bfloat16 (docs/bench.md).
    kernel = "explicit" if options.guide or device.type == "cpu" else "fused"
    model = Transformer(replace(config, kernel=kernel)).to(device)
    corpus, dev_corpus = (
        Corpus(part, tokenizer, config.max_tokens, device) for part in (train, dev)
    )
    say(
        f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(corpus):,} examples, "
        f"{device}, {torch.get_num_threads()} threads"
    )
    run = Run(asked.folder, model, corpus, dev_corpus, options)
    weights = run()
    bundle: Path = asked.folder / "bundle"
    save_bundle(bundle, weights, config, tokenizer, asked.name)
    progress = {
        **asdict(run.progress),
        "epochs": run.epochs,
        "taught": taught(config, run.progress.guided),
    }
    (bundle / TRAINING).write_text(json.dumps(progress, indent=1) + "\n")
    say(f"wrote {bundle}")
    return bundle


def _pairs(paths: Sequence[Path]) -> list[TextPair]:
    return [pair for path in paths for pair in read_pairs(path)]


def _tidied(
    pairs: Sequence[TextPair], asked: argparse.Namespace, languages: Languages
) -> list[TextPair]:
    """The pairs to learn from, tidied unless they are wanted raw; says what became of them."""
    kept = unseen(pairs, _pairs([*asked.dev, *asked.held_out]))
    counts = Counter({"held out": len(pairs) - len(kept)})
    if not asked.raw:
        kept, steps = clean(kept, languages)
        counts |= steps
    told = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    say(f"{len(kept):,} of {len(pairs):,} pairs; {told}")
    if not kept:
        sys.exit(f"no pair is left of {len(pairs):,}: {told}")
    return kept


def _examples(
    pairs: Sequence[TextPair], languages: Languages, one_way: bool
) -> list[TrainingExample]:
    examples = both_ways(pairs, languages)
    return [e for e in examples if e.language == languages[1]] if one_way else examples


def _back(asked: argparse.Namespace, languages: Languages) -> list[TrainingExample]:
    """Back-translations, tidied too, each into the language that people wrote.

    Raises `ValueError` for a language that is not trained.
    """
    rows = [row for path in asked.back for row in read_back(path)]
    if other := {language for language, _ in rows} - {*languages}:
        raise ValueError(f"--back has rows of {', '.join(sorted(other))}, not {languages}")
    into = languages[1:] if asked.one_way else languages
    return [
        example
        for language in into
        if (pairs := [pair for wrote, pair in rows if wrote == language])
        for example in both_ways(_tidied(pairs, asked, languages), languages)
        if example.language == language
    ]


def _tokenizer(
    folder: Path, pairs: Sequence[TextPair], vocabulary: int, languages: Languages
) -> Tokenizer:
    path = folder / TOKENIZER
    if not path.is_file():
        texts = (text for pair in pairs for text in pair)
        Tokenizer.train(texts, vocabulary, languages).save(path)
    return Tokenizer.load(path)


def _held(folder: Path, asked: dict[str, Any]) -> str:
    """What the run is, as JSON; exits when the folder holds another run.

    What says when and how it ends may change on resuming, and a guide's weight. An option that was
    not there when the run began has its default, and one that is no more is forgotten.
    """
    ends = {"minutes", "epochs", "steps", "cooldown", "patience", "average"}
    free = {"folder", "device", "name", "guide"} | ends
    wanted = {k: v for k, v in asked.items() if k not in free}
    text = json.dumps(wanted, indent=1, default=str, sort_keys=True) + "\n"
    path = folder / HELD
    if path.is_file():
        defaults = vars(parser().parse_args([str(folder), "--train", "", "--dev", ""]))
        held = {**defaults, **json.loads(path.read_text())}
        other = [
            f"{name} {held[name]}, not {value}"
            for name, value in json.loads(text).items()
            if held[name] != value
        ]
        if other:
            sys.exit(f"{folder} holds a run with {'; '.join(other)}. Name another folder")
    return text


if __name__ == "__main__":
    main()
