"""The simulation of capacity, compared with measurements and calculations by hand."""

from dataclasses import replace

import pytest

from bench.capacity import (
    BATCH,
    FACTOR,
    LAPTOP,
    MEASURED,
    QUEUE,
    Site,
    Times,
    checked,
    cluster_for,
    over_network,
    simulate,
)
from tests.servers import ROOT

TIMES = Times(base=0.010, each=0.005, server=0.002, client=0.001)


def test_one_student_never_waits() -> None:
    seen = simulate(Site("one", TIMES), 1)
    assert seen.times == pytest.approx([0.002 + 0.010 + 0.005 + 0.001] * len(seen.times))
    assert len(seen.times) == 10  # in 20 seconds


def test_saturated_rates_by_hand() -> None:
    """Check the rates of one engine, of two, and of a server with many engines."""
    full = BATCH / (TIMES.base + BATCH * TIMES.each)
    for replicas in (1, 2):
        site = Site("full", TIMES, 1, replicas, replicas)
        assert simulate(site, 64, interval=0.0).rate == pytest.approx(replicas * full, rel=0.02)
    many = Site("many", TIMES, 1, 16, 16)
    assert simulate(many, 400, interval=0.0).rate == pytest.approx(1 / TIMES.server, rel=0.02)


def test_littles_law_holds() -> None:
    """With clients that send without pauses, rate × response time is their number."""
    seen = simulate(LAPTOP, 32, interval=0.0)
    assert seen.rate * sum(seen.times) / len(seen.times) == pytest.approx(32, rel=0.02)


def test_a_full_queue_refuses() -> None:
    slow = Site("slow", replace(TIMES, base=1.0))
    seen = simulate(slow, 2 * QUEUE)
    assert seen.refused
    assert not seen.good
    assert seen.rate == pytest.approx(BATCH / (1.0 + BATCH * TIMES.each), rel=0.1)


def test_it_agrees_with_what_was_measured() -> None:
    """Two points are fitted; the times of many students are not, and are within the margin."""
    alone = simulate(LAPTOP, 1).at(0.5)
    assert alone == pytest.approx(MEASURED.alone, rel=0.1)
    assert simulate(LAPTOP, 32, interval=0.0).rate == pytest.approx(MEASURED.saturated, rel=0.05)
    students = simulate(LAPTOP, MEASURED.students, seconds=60.0)
    for share, measured in ((0.5, MEASURED.p50), (0.95, MEASURED.p95)):
        assert measured / FACTOR <= students.at(share) <= measured * FACTOR


def test_a_cluster_is_large_enough_for_its_students() -> None:
    site = cluster_for(1_000, over_network(Times.fitted()), "CPU")
    assert simulate(site, 1_000, seconds=4.0).good
    assert not simulate(site, 4_000, seconds=4.0).good


def test_what_was_measured_is_what_bench_says() -> None:
    bench = (ROOT / "docs/bench.md").read_text()
    assert (
        f"| 32 clients at once: served / the model's batches of 8 alone | {MEASURED.saturated} "
        in (bench)
    )
    assert f"| one user: p50 / a traced pass alone | {1e3 * MEASURED.alone:.0f} ms |" in bench
    assert f"p50, p95 | {1e3 * MEASURED.p50:.0f} ms | {1e3 * MEASURED.p95:.0f} ms |" in bench
    assert f"the engine's run takes {1e3 * MEASURED.run:.1f}" in bench


def test_the_table_in_the_docs_is_what_it_prints() -> None:
    """Check the first table; the others take half a minute."""
    assert "\n".join(checked()) in (ROOT / "docs/scale.md").read_text()
