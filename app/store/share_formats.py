"""The format of shares: its number, and how shares of older formats are read.

A share's format says what its state, its trace and its answers mean. New shares are written in
`FORMAT`; rows stay as they were written, and are brought to it one format at a time when read:

    1 ─▶ UPGRADES[1] ─▶ 2 ─▶ UPGRADES[2] ─▶ 3 = FORMAT

To change the format: raise `FORMAT`, add the step from the one before, and run
``python -m tests.golden.make``, which keeps shares of the new format for the tests.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from app.store.share_upgrades import upgraded
from app.store.store import Share

FORMAT = 3


class NewerShareError(Exception):
    """A share was written in a format that this server does not know yet."""


@dataclass(frozen=True)
class Upgrade:
    """The step from one format to the next."""

    share: Callable[[Share], Share]
    answer: Callable[[bytes], bytes] = lambda answer: answer  # the file beside a share, compressed


UPGRADES: Mapping[int, Upgrade] = {
    # A model is described by its table of attentions, and says what it can.
    1: Upgrade(lambda share: replace(share, model=upgraded(share.model))),
    # A share may be of the lab: a state with "lab" in it, without a model.
    2: Upgrade(lambda share: share),
}


def upgrade(share: Share) -> Share:
    """The share in today's format; NewerShareError for one that a newer server wrote."""
    for step in _steps(share.format):
        share = step.share(share)
    return replace(share, format=FORMAT)


def upgrade_answer(answer: bytes, written: int) -> bytes:
    """An answer of a share written in this format, in today's; raises what `upgrade` raises."""
    for step in _steps(written):
        answer = step.answer(answer)
    return answer


def _steps(written: int) -> Iterator[Upgrade]:
    if written > FORMAT:
        detail = f"the share has format {written}; this server reads formats up to {FORMAT}"
        raise NewerShareError(detail)
    return (UPGRADES[number] for number in range(written, FORMAT))
