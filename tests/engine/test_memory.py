"""Freed memory that an engine process keeps; each case in a process of its own, forked from one."""

import subprocess
import sys
from functools import cache

import pytest

BLOCK = 40 << 20  # bytes: more than glibc takes from the heap by itself
BLOCKS, USES = 8, 6
CODE = """
import os, resource, sys, threading
from app.engine.engine_process import keep_freed

def use():
    [bytearray(b"x") * {block} for _ in range({blocks})]

def faults():  # of pages, in a use by another thread
    begun = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - begun

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

for count in map(int, sys.argv[1:]):
    if pid := os.fork():
        os.waitpid(pid, 0)
        continue
    done, before = keep_freed(count), resident()
    print(int(done), [faults() for _ in range({uses})][-1], resident() - before, flush=True)
    os._exit(0)
"""
LIMITS = (0, 2 * BLOCK, 12 * BLOCK)  # bytes that are kept


@cache
def uses() -> list[list[int]]:
    """Return for each limit whether memory is kept, page faults of the last use, and bytes held."""
    code = CODE.replace("{block}", str(BLOCK)).replace("{blocks}", str(BLOCKS))
    ended = subprocess.run(
        [sys.executable, "-c", code.replace("{uses}", str(USES)), *map(str, LIMITS)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [[*map(int, line.split())] for line in ended.stdout.splitlines()]


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc keeps memory")
class TestKeepFreed:
    def test_later_uses_need_no_new_pages(self) -> None:
        done, faults, held = uses()[2]
        assert done
        assert faults < 1_000  # 8 blocks are 81,920 pages
        assert held < 13 * BLOCK

    def test_no_more_than_the_limit_is_kept(self) -> None:
        done, faults, held = uses()[1]
        assert done
        assert faults > 40_000
        assert held < 4 * BLOCK

    def test_zero_keeps_none(self) -> None:
        done, faults, held = uses()[0]
        assert not done
        assert faults > 40_000
        assert held < BLOCK
