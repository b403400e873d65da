"""The kinds of the system's errors when files cannot be written. Imports nothing slow."""

import errno
import re

FULL, UNAVAILABLE = "storage-full", "storage-unavailable"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_FAULT = (ConnectionError, FileNotFoundError, NotADirectoryError)
RUST = re.compile(r"os error (\d{1,4})\)")  # how safetensors reports an error of the system


def disk_problem(error: BaseException) -> str | None:
    """Return the kind of an error of the disk; None if it is something else.

    The end of a pipe or a connection is none, and neither is a file that is not there.
    """
    if isinstance(error, OSError) and not isinstance(error, NO_FAULT):
        number = error.errno
    elif type(error).__name__ == "SafetensorError" and (match := RUST.search(str(error)[-100:])):
        number = int(match[1])
    else:
        return None
    return FULL if number in NO_ROOM else UNAVAILABLE
