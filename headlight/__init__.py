"""Headlight in a script or a notebook, without a server.

import headlight

model = headlight.load("en-zh")
trace = model.trace("Hello")
headlight.show(model, "Hello")
headlight.Widget(model, "Hello")  # in a notebook, moved from both sides

headlight.show(model, tokenizer, "Hello")  # of `transformers`
with headlight.record(model) as record:
    model(**batch)
record["decoder.0.self.weights"]

What it offers is listed in `headlight.public_names`, which is imported at the first use: PyTorch
takes seconds to import, and the command needs it only for some of what it does.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from headlight.other_headlight_package import warn_of_namesake

if TYPE_CHECKING:
    from headlight.public_names import *  # noqa: F403
    from headlight.widget import Widget as Widget
else:

    def __getattr__(name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("headlight.public_names"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *import_module("headlight.public_names").__all__})


warn_of_namesake()
