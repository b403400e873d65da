"""Keeps memory that was freed, for the next request.

Weights, q, k and v of a pass take many megabytes for a moment. By default, glibc returns them to
the system at once, and each request waits for the system to clear new pages: in a virtual machine,
a third of a pass over 1,024 tokens.
"""

import ctypes

TOP_PAD, TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -2, -1, -3, -8  # malloc.h
LARGEST = 32 << 20  # bytes of a block for which the heap grows; the most that glibc takes
MOST = (1 << 31) - 1  # bytes; glibc takes an int
POINTER = ctypes.c_void_p


def keep_freed(count: int) -> bool:
    """Keep up to `count` bytes of freed memory in this process, in one heap for all threads.

    The heap grows by as many addresses at a time, so that blocks of any size fit in; those that
    are not used take no memory. Only glibc can; returns whether it does.
    """
    try:
        libc = ctypes.CDLL(None)
        mallopt, malloc, free = libc.mallopt, libc.malloc, libc.free
    except (AttributeError, OSError, TypeError):  # musl, macOS; Windows
        return False
    kept_bytes = min(count, MOST)
    options = (
        (ARENA_MAX, 1),
        (MMAP_THRESHOLD, LARGEST),
        (TRIM_THRESHOLD, kept_bytes),
        (TOP_PAD, kept_bytes),
    )
    if kept_bytes == 0 or not all(mallopt(*option) for option in options):
        return False
    malloc.restype, malloc.argtypes, free.argtypes = POINTER, [ctypes.c_size_t], [POINTER]
    free(malloc(LARGEST // 2))  # the heap grows now; a larger block would not make it grow
    return True
