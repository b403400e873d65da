"""Trains a model of the zoo on generated examples."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from shutil import copytree, rmtree

import torch

from model.bundle.weights import CHECKPOINTS, TRAINING, save_bundle
from model.train.data import Corpus
from model.train.events import Event, Finished, Started
from model.train.loop import Trainer
from model.train.pairs import TrainingExample
from model.train.randomness import Chance
from model.train.run import BUNDLE
from model.transformer.stacks import Transformer
from model.zoo.recipes import Recipe
from model.zoo.registry import DIRECTION, LANGUAGES, tokenizer_of
from model.zoo.tasks import Example

SHIPPED = CHECKPOINTS / "zoo"
DEV = 300  # held-out examples


def draw(recipe: Recipe, random: Random, count: int, held_out: bool) -> list[Example]:
    """Draw examples of the recipe's training lengths; all lengths are equally likely."""
    first, last = recipe.trained
    return [recipe.task.draw(random, random.randint(first, last), held_out) for _ in range(count)]


def train_recipe(recipe: Recipe, seed: int, folder: Path) -> Generator[Event, None, None]:
    """Train one model in a folder, or continue training there, and write its bundle.

    Recipe and seed determine the weights, bit for bit on one thread of the same kind of processor.
    """
    random = Random(f"{recipe.task_name} {seed}")
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer, device = tokenizer_of(recipe.task), torch.device("cpu")
    config = recipe.config(len(tokenizer))
    corpus, dev = (
        Corpus(
            [
                TrainingExample(one.source_text, one.target_text, LANGUAGES[1])
                for one in draw(recipe, random, count, held_out)
            ],
            tokenizer,
            config.max_tokens,
            device,
        )
        for count, held_out in ((recipe.examples, False), (DEV, True))
    )
    chance = Chance(seed, device)
    with chance:
        model = Transformer(config)
    trainer = Trainer(folder, model, corpus, dev, replace(recipe.options, seed=seed), chance)
    yield Started(
        sum(p.numel() for p in model.parameters()),
        len(corpus),
        str(device),
        torch.get_num_threads(),
        trainer.progress.step,
        trainer.progress.epoch,
    )
    yield from trainer.events()
    save_bundle(folder / BUNDLE, trainer.average(), config, tokenizer, f"Zoo: {recipe.name}")
    told = {**asdict(trainer.progress), "epochs": trainer.epochs, "seed": seed}
    told["directions"] = [DIRECTION]
    (folder / BUNDLE / TRAINING).write_text(json.dumps(told, indent=1) + "\n")
    yield Finished(str(folder / BUNDLE), trainer.progress.step)


def ship(bundle: Path, name: str, zoo: Path = SHIPPED) -> Path:
    """Copy a bundle to where `load("zoo/<name>")` finds it; return the folder."""
    folder = zoo / name
    rmtree(folder, ignore_errors=True)
    copytree(bundle, folder)
    return folder
