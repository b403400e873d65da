"""Commands that measure a model, or compare variants of one."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from model.adapters.open_model import open_model
from model.bundle.model_card import TEMPLATE, write_card
from model.commands import arguments
from model.commands.arguments import Command
from model.commands.models import Train, plan_of
from model.measure.attention_history import write_history
from model.measure.certainty import PARTS, write_certainty
from model.measure.head_survey import survey_heads
from model.measure.heads import write_means, write_report
from model.measure.heads_report import write_page
from model.measure.scores import GATE, failures, measure, measure_gate, table, write_figures
from model.measure.source_words import write_sources
from model.measure.training_variants import (
    Variant,
    folder_name,
    measured_variants,
    read_variants,
    side_by_side,
)


class Scores(Command):
    """Translate test sets, score them, and write the figures into the model card.

        python -m model measure scores --test Tatoeba=test.tsv --typed dev.tsv --gate

    Earlier figures of the same weights are kept in `figures.json` unless they are measured again.
    Without these options nothing is measured, and only the card is written again. The figures
    include the digest of the weights.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        arguments.bundle(parser)
        arguments.test_sets(parser)
        parser.add_argument(
            "--gate",
            type=Path,
            nargs="?",
            const=GATE,
            metavar="TSV",
            help="sentences that people type first; without a file, the built-in list",
        )
        arguments.languages(parser)
        arguments.device(parser)
        arguments.jobs(parser)
        parser.set_defaults(jobs=os.cpu_count() or 1)

    def run(self, args: argparse.Namespace) -> None:
        if args.test or args.typed or args.gate:
            figures = measure(
                args.bundle,
                dict(args.test),
                args.typed,
                args.device,
                (args.languages[0], args.languages[1]),
                1 if args.one_way else 2,
                args.jobs,
                args.gate,
            )
            write_figures(args.bundle, figures)
        if (args.bundle / TEMPLATE).is_file():
            write_card(args.bundle)


class Gate(Command):
    """Measure how many of the sentences that people type first are translated correctly.

        python -m model measure gate runs/mine/bundle

    translates each sentence of `model/measure/gate.tsv` in the direction that the page would
    detect, and prints the share of correct ones by kind and direction, and the incorrect ones.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        arguments.bundle(parser)
        parser.add_argument(
            "--gate",
            type=Path,
            default=GATE,
            metavar="TSV",
            help="kind, sentence, pattern (built in)",
        )
        parser.add_argument("--beam", type=int, default=1, help="beams of the search (1: greedy)")
        arguments.device(parser)
        parser.set_defaults(device="cpu")

    def run(self, args: argparse.Namespace) -> None:
        passages = measure_gate(args.bundle, args.gate, args.device, args.beam)
        print(table(passages))
        print(f"\n{failures(passages)}")


class Certainty(Command):
    """Measure which of the words that a model writes are probably wrong.

        python -m model measure certainty --dev tatoeba=dev.tsv --dev captions=captions.tsv

    writes `certainty.json` into the bundle, from which the page takes when it marks a word or a
    text as doubtful, a source word as not translated, and a text as unlike the training data, and
    the card its tables: the model's own translations of dev sets are compared with their
    references, word by word. The aligner is that of `measure heads --align`, which comes first.
    Parts that are not measured again are kept, if they are of the same weights.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        arguments.bundle(parser)
        parser.add_argument(
            "--dev",
            type=arguments.named_file,
            action="append",
            required=True,
            metavar="NAME=TSV",
            help="pairs to measure on; repeatable",
        )
        parser.add_argument(
            "--sentences", type=int, default=2000, help="the first of each set (2000)"
        )
        parser.add_argument(
            "--parts",
            nargs="+",
            choices=PARTS,
            default=PARTS,
            help="what to measure (all): doubtful words, source words not translated, nonsense",
        )

    def run(self, args: argparse.Namespace) -> None:
        write_certainty(args.bundle, dict(args.dev), args.sentences, GATE, args.parts)
        if (args.bundle / TEMPLATE).is_file():
            write_card(args.bundle)


class Heads(Command):
    """Report what the heads of a model do, over many sentences.

        python -m model measure heads --dev dev.tsv --align folder

    writes `report.json` and `REPORT.md` into the bundle: each head's entropy, distance, pattern,
    most similar head and importance, how many heads are idle, and the error of alignments from
    cross-attention against human ones. Without `--dev` only the page is written again.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        arguments.bundle(parser)
        arguments.dev_file(parser, "pairs to measure on")
        parser.add_argument("--align", type=Path, help="folder with sentences.txt and gold.txt")
        parser.add_argument(
            "--pairs", type=int, default=300, help="of dev, drawn with seed 0 (300)"
        )

    def run(self, args: argparse.Namespace) -> None:
        if args.dev:
            write_report(args.bundle, args.dev, args.align, args.pairs)
        write_page(args.bundle)


class Sources(Command):
    """Measure word alignments from attributions to source words.

        python -m model measure sources --align folder

    adds the error of alignments from occlusion, gradient × input and integrated gradients, and
    their agreement with the heads that align best, to `report.json` and `REPORT.md`. It needs the
    report of `measure heads`, which removes it again.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        arguments.bundle(parser)
        parser.add_argument(
            "--align", type=Path, required=True, help="folder with sentences.txt and gold.txt"
        )
        parser.add_argument("--pairs", type=int, default=60, help="at most this many (60)")

    def run(self, args: argparse.Namespace) -> None:
        write_sources(args.bundle, args.align, args.pairs)
        write_page(args.bundle)


class MeanOutputs(Command):
    """Measure each head's mean output over training data, with which `mean` replaces the head.

        python -m model measure mean-outputs runs/mine/bundle --train pairs.tsv

    writes `means.safetensors` into the bundle: a tensor ``encoder.1.self.mix`` (head, channel) for
    each attention, with the digest of the weights in the metadata. In training, later layers never
    saw a head that is switched off; its mean output is closer to what they saw.

    Source: mean ablation as in Wang et al. 2022, Interpretability in the Wild.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        arguments.bundle(parser)
        arguments.train_files(parser, "the training data, .gz or not")
        parser.add_argument("--pairs", type=int, default=2000, help="drawn from the files (2000)")
        parser.add_argument("--seed", type=int, default=0, help="seed for drawing them (0)")

    def run(self, args: argparse.Namespace) -> None:
        path = write_means(args.bundle, args.train, args.pairs, args.seed)
        print(f"wrote {path}", file=sys.stderr)


class Corpus(Command):
    """Measure what every head of a model does over a text of your own.

        python -m model measure corpus en-zh --text sentences.txt --out folder --index

    writes `heads.json` into the folder: how often each pattern holds, measures, and similar heads.
    A line of the text is one sentence; a line with a tab is a sentence and its translation, which
    is read instead of the model's own. With `--index`, the folder also gets an index of every row
    of every head, with the sentences, which a server searches if HEADLIGHT_CORPORA names the
    folder.

    The model is a bundle, the name of one that ships with Headlight, or `hf:` and a folder.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("model", help="a bundle, or hf:folder")
        parser.add_argument("--text", type=Path, required=True, help="sentences, one per line")
        parser.add_argument("--out", type=Path, required=True, help="folder to write")
        parser.add_argument("--sentences", type=int, help="drawn from the text with seed 0 (all)")
        parser.add_argument(
            "--title", default="", help="what the page calls the text (its file name)"
        )
        parser.add_argument("--index", action="store_true", help="also write an index to search")
        arguments.device(parser)

    def run(self, args: argparse.Namespace) -> None:
        found = survey_heads(
            open_model(args.model, args.device),
            args.text.read_text(encoding="utf-8").splitlines(),
            args.out,
            title=args.title or args.text.name,
            count=args.sentences,
            index=args.index,
        )
        print(f"wrote {args.out}: {found['sentences']} sentences", file=sys.stderr)


class History(Command):
    """Record how a model learned: its attention on a few sentences, at steps of the training run.

        python -m model measure history --snapshots runs/mine/snapshots/* --final 9000 --dev dev.tsv

    writes `learning.safetensors` into the bundle: for each sentence of its `examples.txt` and each
    snapshot, the weights of every attention. Every snapshot reads the same target, the trained
    model's translation, so that all maps have the same tokens; each snapshot's own translation is
    stored as well. With `--extend`, the existing history of a run that was continued is kept,
    including its sentences and targets, and the new steps are added.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        arguments.bundle(parser)
        parser.add_argument(
            "--snapshots", type=Path, nargs="*", default=[], help="…/000400.safetensors"
        )
        parser.add_argument("--final", type=int, required=True, help="the step of the bundle")
        arguments.dev_file(parser, "pairs to measure on", required=True)
        parser.add_argument("--sources", type=int, default=200, help="number per direction (200)")
        parser.add_argument("--extend", action="store_true", help="extend the existing history")

    def run(self, args: argparse.Namespace) -> None:
        write_history(args.bundle, args.snapshots, args.final, args.dev, args.sources, args.extend)


class Variants(Command):
    r"""Train variants of a run and measure each on dev: ablations, and searches for a better shape.

        python -m model measure variants runs/shapes shapes.txt --test tatoeba=dev.tsv -- \
            --train pairs.tsv --dev dev.tsv --steps 2000

    Each line of the file is `name: options`, options of `train` that follow the common ones after
    `--` ($VARIABLES are substituted). Every variant is trained with every seed and translates the
    test sets greedily; then the table is printed, in Markdown. After an interruption, run the same
    command again: finished runs are kept, the rest continues.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="parent folder of all runs")
        parser.add_argument("variants", type=Path, help="lines of `name: options`")
        arguments.test_sets(parser)
        parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="(1)")
        arguments.jobs(parser)

    def run(self, args: argparse.Namespace) -> None:
        runs = argparse.ArgumentParser(prog="python -m model train")
        Train().add_arguments(runs)
        lines = read_variants(args.variants.read_text(encoding="utf-8"))
        variants = []
        for seed in args.seeds:
            for name, options in lines.items():
                folder = args.folder / f"{folder_name(name)}-{seed}"
                line = [str(folder), *args.handed_on, *options, "--seed", str(seed)]
                variants.append(Variant(name, plan_of(runs.parse_args(line))))
        print(side_by_side(measured_variants(variants, dict(args.test), args.typed, args.jobs)))
