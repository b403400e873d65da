"""`python -m tests.one_text decoder`: the server with a tiny model of one text, and no other."""

import sys
from typing import Literal

from app.__main__ import serve
from app.engine.catalog import Catalog
from app.settings import Settings
from tests.model.decoder_only import OneText

if __name__ == "__main__":
    [named] = sys.argv[1:]
    kind: Literal["decoder", "encoder"] = "decoder" if named == "decoder" else "encoder"
    sys.exit(serve(Settings(), Catalog.of({kind: OneText(kind)})))
