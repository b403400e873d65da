"""Tables of positional encodings, for a page that draws them."""

import orjson
from torch.nn.functional import normalize

from app.engine.wire import numbers
from model.errors import InputError
from model.transformer.positions import TABLES


def positions_table(variant: str, length: int, d_model: int, limit: int) -> bytes:
    """The JSON reply: the table (length, d_model) and its cosine similarities (length, length).

    Raises InputError for a variant that does not exist, and for sizes outside 1 to `limit`.
    """
    for field, size in (("length", length), ("d_model", d_model)):
        if not 1 <= size <= limit:
            raise InputError("out-of-range", field, f"{field} must be from 1 to {limit}")
    if variant not in TABLES:
        known = ", ".join(TABLES)
        raise InputError("unknown-variant", "variant", f"variant must be one of: {known}")
    table = TABLES[variant](length, d_model)
    unit = normalize(table.double(), dim=-1)
    document = {
        "variant": variant,
        "positions": numbers(table.numpy()),
        "similarity": numbers((unit @ unit.T).float().numpy()),
    }
    return orjson.dumps(document)
