"""Train and measure models: `python -m model train --help`."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Sequence
from importlib import import_module

from model.errors import FileError

# By name, in order of use; "measure heads" is `Heads` in commands/measure.py, and so on.
COMMANDS = {
    "train": "train a model on parallel text, or continue training it",
    "recipe": "run every stage of training a model, from one file",
    "back-translate": "translate a train set with a model, to train on",
    "distil": "translate a train set with teachers, to train a student on",
    "average": "average the weights of models continued from the same run",
    "merge-heads": "merge the encoder's heads in pairs, to train on with half as many",
    "measure scores": "measure BLEU and chrF, and write them into the model card",
    "measure mean-outputs": "measure each head's mean output, for mean ablation",
    "measure heads": "report what every head does and how important it is",
    "measure corpus": "measure what every head does over a text of your own",
    "measure sources": "measure word alignments from attributions to source words",
    "measure history": "record attention at steps of the training run",
    "measure certainty": "measure when a model is unsure of what it writes",
    "measure gate": "measure how many of the things people type first are translated correctly",
    "measure variants": "train variants of a run and compare them",
    "zoo train": "train the small models of the zoo",
    "export-web": "export a model to a page that runs it without a server",
    "import-models": "fetch three third-party models and convert them, to serve",
    "zoo measure": "measure the zoo's models, and write their page",
}
HAND_ON = {"measure variants"}
GROUPS = {
    "measure": "measure a model, or compare variants of one",
    "zoo": "small models of simple tasks, whose attention is easy to read",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command. Commands in `HAND_ON` take options of another command after ``--``."""
    line = list(sys.argv[1:] if arguments is None else arguments)
    chosen = next((name for name in COMMANDS if line[: name.count(" ") + 1] == name.split()), None)
    cut = line.index("--") if chosen in HAND_ON and "--" in line else len(line)
    parsed = parser(chosen).parse_args(line[:cut], argparse.Namespace(handed_on=line[cut + 1 :]))
    parsed.run(parsed)


def parser(chosen: str | None) -> argparse.ArgumentParser:
    """Return the command line. Only the chosen command is imported, since torch takes seconds."""
    root = argparse.ArgumentParser(prog="python -m model", description=__doc__)
    places = {"": root.add_subparsers(metavar="command", required=True)}
    for name, help_ in COMMANDS.items():
        group, _, last = name.rpartition(" ")
        if group not in places:
            inner = places[""].add_parser(group, help=GROUPS[group], description=GROUPS[group])
            places[group] = inner.add_subparsers(metavar="command", required=True)
        command = places[group].add_parser(last, help=help_)
        if name == chosen:
            module = import_module(f"{__package__}.commands.{group or 'models'}")
            work = getattr(module, "".join(map(str.capitalize, last.split("-"))))()
            command.description = inspect.getdoc(work)
            command.formatter_class = argparse.RawDescriptionHelpFormatter
            work.add_arguments(command)
            command.set_defaults(run=work.run)
    return root


if __name__ == "__main__":
    try:
        main()
    except FileError as error:
        sys.exit(str(error))
