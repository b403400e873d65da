"""Studies in the tables of the assignments: what was planned, and what each participant answered.

Of an address, only the first byte of a keyed digest is stored: it limits how many participants come
from one address, and is the same for one in 256 addresses, so that it identifies nobody.
"""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import product

from app.assignments.store import Assignments
from app.http.route_dependencies import Services
from app.lessons.inventory import FORMS, Form
from app.store.storage_errors import Stored
from app.store.store import Store

Cell = tuple[int, Form]  # an arm, and the form with which it begins


class Studies(Assignments):
    """Studies by id; a member is a participant."""

    kind: Stored = "study"

    def cell(self, study_id: str, arms: int, number: int) -> Cell:
        """Return the arm and the first form of the participant who came after `number` others.

        Participants are assigned in blocks. Each block has every arm with both forms once, in an
        order that nobody outside can foresee.
        """
        cells: Sequence[Cell] = list(product(range(arms), FORMS))
        block, place = divmod(number, len(cells))
        seed = self.store.keyed(f"{study_id} block {block}")
        return random.Random(seed).sample(cells, len(cells))[place]

    def _sender(self, assignment_id: str, address: str) -> bytes:
        return self.store.keyed(f"{assignment_id} {address}")[:1]


@asynccontextmanager
async def open_studies(services: Services) -> AsyncIterator[None]:
    """Open the studies of a server."""
    services.add(Studies(services[Store]))
    yield
