"""Tables of positional encodings."""

import orjson
from torch.nn.functional import normalize

from app.engine.wire import numbers
from model.errors import InputError
from model.transformer.positions import TABLES


def positions_table(variant: str, length: int, d_model: int, limit: int) -> bytes:
    """Return the JSON reply: a table (length, d_model) and cosine similarities (length, length).

    Raises InputError for an unknown variant, and for sizes that are not from 1 to `limit`.
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
