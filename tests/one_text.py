"""`python -m tests.one_text decoder`: the server with a tiny model of one text, and no other."""

import sys

from app.engine.model_catalog import Catalog
from app.server import serve
from app.settings import Settings
from tests.model.decoder_only import OneText

if __name__ == "__main__":
    (kind,) = sys.argv[1:]
    model = OneText("decoder" if kind == "decoder" else "encoder")
    sys.exit(serve(Settings(), Catalog.of({kind: model})))
