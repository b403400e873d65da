"""Greedy decoding of a batch by speculative decoding: draft, verify, correct.

A trace runs its target through the model in one pass (teacher forcing), which gives the most
probable next token at every position. The same pass over a draft therefore verifies it:

    draft      A  B  C  D ⟨eos⟩
    the model  A  B  E  …             greedy decoding writes A, B and E
    draft      A  B  E  F ⟨eos⟩       again, after the accepted part
    the model  A  B  E  F ⟨eos⟩       the same everywhere: this pass is the result

By induction this equals greedy decoding, if a pass and a decoding step agree on the most probable
token. Their sums have a different order, so the last digits differ: if the best two tokens are
closer than `MARGIN`, the draft is not accepted and the row is decoded step by step.

Source: Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding", with
every draft token checked against the largest probability instead of sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from model.adapters.drafter import Drafter
from model.adapters.encoder_decoder.decoding import Ids, Row, Writer

MARGIN = 1e-4  # nats between the best two tokens; a pass and a step differ by some 1e-5
TRIES = 3  # drafts of a row before it is decoded


class Targets:
    """The target of each row, as far as it is known, while a batch is being answered.

    The first drafts are started at once, so that the encoder can run at the same time.
    """

    def __init__(self, writer: Writer, drafter: Drafter | None, rows: Sequence[Row]) -> None:
        self.writer = writer
        self.drafter = drafter
        self.rows = rows
        self._known = writer.known(rows)
        self._drafts: dict[int, Ids] = {}
        self._begun = {index: row.request.decode.prefix for index, row in enumerate(rows)}
        self._tries = {index: TRIES for index, row in enumerate(rows) if writer.is_greedy(row)}
        self._undrafted = [index for index in self._tries if index not in self._known]
        if drafter and self._undrafted and not drafter.is_worthwhile():
            self.drafter = None
        self._coming: Callable[[], dict[int, Ids]] = dict
        self._begin()

    def of(self, indices: Sequence[int]) -> list[Ids]:
        """Return the targets of some rows: the known ids, otherwise a draft, otherwise decoded ids.

        Call `agrees` to find out whether a draft was right.
        """
        self._begin()
        coming, self._coming = self._coming, dict
        self._drafts.update(coming())
        open_ = [i for i in indices if i not in self._known and i not in self._drafts]
        found = self.writer.search([self.rows[index] for index in open_])
        self._known.update(zip(open_, found, strict=True))
        return [self._drafts.get(index) or self._known[index] for index in indices]

    def agrees(self, index: int, logprobs: Tensor) -> bool:
        """Return whether the pass over a row, `logprobs` (T, V) on the CPU, agrees with `of`.

        If not, the accepted part is kept and `of` must be called again.
        """
        draft = self._drafts.pop(index, None)
        if draft is None:
            return True
        certain = verified(draft, logprobs, self.writer.never, len(self._begun[index]))
        self._tries[index] -= 1
        complete = certain is not None and self.writer.is_complete(self.rows[index], certain)
        if self.drafter and (complete or certain is None or not self._tries[index]):
            self.drafter.judge(complete)
        if certain is None:
            return False
        self._begun[index] = certain
        if complete:
            self._known[index] = certain
            self.writer.remember(self.rows[index], certain)
            return certain == draft
        if self._tries[index]:
            self._undrafted.append(index)
        return False

    def _begin(self) -> None:
        """Start drafts for the rows without one; `of` waits for them."""
        drafted, self._undrafted = self._undrafted, []
        if not drafted or not self.drafter:
            return
        rows = [self.rows[index] for index in drafted]
        most = max(self.writer.limit(row.request, row.source) for row in rows)
        sources = [[token.id for token in row.source] for row in rows]
        begun = [self._begun[index] for index in drafted]
        guesses = self.drafter.draft(sources, begun, most)

        def drafts() -> dict[int, Ids]:
            columns = zip(drafted, rows, begun, guesses(), strict=True)
            made = {
                index: self.writer.within((*start, *guess[len(start) :]), row)
                for index, row, start, guess in columns
            }
            return {index: ids for index, ids in made.items() if len(ids) > len(self._begun[index])}

        self._coming = drafts


def verified(draft: Ids, logprobs: Tensor, never: Tensor, begun: int) -> Ids | None:
    """Return the ids of greedy decoding, as far as a pass over a draft shows them.

    This is the draft up to the first token that differs from the model's choice, and that choice;
    None if two tokens are too close to decide. The first `begun` ids are given. `logprobs` (T, V)
    are those of the draft's T tokens, `never` the ids that are never written.
    """
    ids = torch.tensor(draft)[begun:]
    allowed = logprobs[begun : len(draft)].index_fill(1, never.cpu(), -torch.inf)
    best, tokens = allowed.topk(2, dim=-1)
    clear = best[:, 0] - best[:, 1] > MARGIN
    same = tokens[:, 0] == ids
    until = len(ids) if same.all() else int(same.int().argmin()) + 1  # the model's token is last
    if not clear[:until].all():
        return None
    return (*draft[: begun + until - 1], int(tokens[until - 1, 0]))
