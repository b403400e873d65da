"""`python -m app`: see `app.command`."""

import contextlib
import sys

from app.command import main

if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
