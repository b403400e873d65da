"""`python -m bench.eight_bits FILE`: translations that eight-bit weights leave as they are.

FILE has a group, an English and a Chinese sentence on each line, separated by tabs. Every row of
every matrix is rounded to 255 steps of its largest number; all else stays as it is.
"""

import argparse
from pathlib import Path

import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.request import Decode
from model.train.metrics import translate

STEPS = 127  # on each side of zero


@torch.no_grad()
def round_weights(model: EncoderDecoder) -> None:
    """Round the matrices of a model in place."""
    for matrix in model.model.parameters():
        if matrix.ndim == 2:
            step = matrix.abs().amax(dim=1, keepdim=True) / STEPS
            matrix.copy_((matrix / step).round() * step)


def main() -> None:
    """Translate in both directions, greedily, and print the shares that agree."""
    parser = argparse.ArgumentParser(prog="python -m bench.eight_bits", description=__doc__)
    parser.add_argument("file", type=Path, help="sentences in both languages")
    sentences = parser.parse_args().file.read_text().splitlines()
    shipped, rounded = (load("en-zh", "cpu", measured=False) for _ in range(2))
    round_weights(rounded)
    for direction, column in (("en-zh", 1), ("zh-en", 2)):
        texts = [line.split("\t")[column] for line in sentences]
        pairs = zip(
            *(translate(m, texts, direction, Decode()) for m in (shipped, rounded)), strict=True
        )
        same = sum(whole == eight for whole, eight in pairs)
        print(f"{direction}: {same / len(texts):.1%} of {len(texts)} translations are the same.")


if __name__ == "__main__":
    main()
