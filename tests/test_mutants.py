"""The mutants of the core: each is one change that compiles, and their tests exist."""

from tests.mutants import ROOT, TESTS, Finder, suite_of

CODE = b'''"""Title."""
LIMIT = 3


def small(value: int, *, most: int = LIMIT) -> bool:
    """Return whether."""
    if value < most and not value == 2:
        return True
    return max(value, most, key=abs) > 0
'''


def test_every_small_mistake_is_made_once() -> None:
    found = Finder("small.py", CODE).mutants
    changed = {CODE[: m.span[0]] + m.after.encode() + CODE[m.span[1] :] for m in found}
    assert len(changed) == len(found)
    assert CODE not in changed
    for code in changed:
        compile(code, "small.py", "exec")
    assert {(m.scope, m.before, m.after) for m in found} >= {
        ("", "3", "(4)"),
        ("small", "value < most", "(value <= most)"),
        ("small", "value < most and not value == 2", "(False)"),
        ("small", "max(value, most, key=abs)", "(max(value, most))"),
        ("small", "return True", "return"),
    }


def test_a_sample_stays_the_same_while_other_code_changes() -> None:
    later = Finder("small.py", b"MORE = 1\n\n" + CODE).mutants
    ranks = [mutant.rank("0") for mutant in Finder("small.py", CODE).mutants]
    assert [mutant.rank("0") for mutant in later if mutant.before != "1"] == ranks
    assert len(set(ranks)) == len(ranks)


def test_every_file_and_its_tests_exist() -> None:
    for path in TESTS:
        assert (ROOT / path).exists(), path
        for name in suite_of(path if path.endswith(".py") else f"{path}/any.py"):
            assert (ROOT / name).is_file(), name
