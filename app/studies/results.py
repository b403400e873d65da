"""The results of a study: scores before and after, by arm, item and misunderstanding.

Measures of learning, from the scores of the same people before and after.

normalized gain     ⟨g⟩ = (after − before) / (1 − before), of the means: the part of what was not
                    known before. Hake, 1998, American Journal of Physics 66, 64.
effect of a group   d = (mean after − mean before) / √((s²before + s²after) / 2), with Bonett's
                    standard error for paired scores. Bonett, 2008, Psychological Methods 13, 99.
effect between two  d = (mean₁ − mean₂) / s, s pooled, with the standard error of Hedges and Olkin.
                    Hedges & Olkin, 1985, Statistical Methods for Meta-Analysis, chapter 5.

Intervals are d ± 1.96 standard errors; d is not corrected for small groups. What
cannot be computed is None: means of nobody, spreads of one, effects where all scores are equal.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from statistics import NormalDist, fmean, median, variance

from app.http.replies import csv_of
from app.lessons.inventory import RIGHT, Item, inventory
from app.studies.schemas import (
    ArmComparison,
    ArmResults,
    EffectSize,
    ItemChange,
    MeanScore,
    MisunderstandingChange,
    ParticipantDocument,
    ScoreChange,
    Stage,
    StoredTest,
    StudyArm,
    StudyDocument,
    StudyResults,
)

NORMAL_95 = NormalDist().inv_cdf(0.975)

Scores = Sequence[float]


@dataclass(frozen=True)
class Effect:
    """Cohen's d with the ends of its 95 % confidence interval."""

    d: float
    low: float
    high: float


def mean(scores: Scores) -> float | None:
    """Return the mean of scores."""
    return fmean(scores) if scores else None


def spread(scores: Scores) -> float | None:
    """Return the standard deviation of scores, as an estimate for those of all people."""
    return sqrt(variance(scores)) if len(scores) > 1 else None


def normalized_gain(before: float | None, after: float | None) -> float | None:
    """Return Hake's normalized gain of mean scores from 0 to 1."""
    if before is None or after is None or before >= 1:
        return None
    return (after - before) / (1 - before)


def paired_effect(before: Scores, after: Scores) -> Effect | None:
    """Return Cohen's d between two tests of the same people, in the same order."""
    if len(before) < 2:
        return None
    degrees = len(before) - 1
    first, second = variance(before), variance(after)
    average = (first + second) / 2
    if average == 0:
        return None
    d = (fmean(after) - fmean(before)) / sqrt(average)
    shared = _covariance(before, after)
    squares = first**2 + second**2 + 2 * shared**2
    error = d**2 * squares / (8 * degrees * average**2)
    error += (first + second - 2 * shared) / (degrees * average)
    return _interval(d, error)


def group_effect(scores: Scores, others: Scores) -> Effect | None:
    """Return Cohen's d between two groups of different people; positive if the first is higher."""
    n, m = len(scores), len(others)
    if n < 2 or m < 2:
        return None
    pooled = ((n - 1) * variance(scores) + (m - 1) * variance(others)) / (n + m - 2)
    if pooled == 0:
        return None
    d = (fmean(scores) - fmean(others)) / sqrt(pooled)
    return _interval(d, (n + m) / (n * m) + d**2 / (2 * (n + m)))


def _covariance(before: Scores, after: Scores) -> float:
    first, second = fmean(before), fmean(after)
    products = ((x - first) * (y - second) for x, y in zip(before, after, strict=True))
    return sum(products) / (len(before) - 1)


def _interval(d: float, error: float) -> Effect:
    half = NORMAL_95 * sqrt(max(0.0, error))
    return Effect(d, d - half, d + half)


COLUMNS = ("participant", "arm", "test", "form", "sent", "item", "answer", "right")


def summed_up(
    document: StudyDocument, participants: Sequence[ParticipantDocument], lang: str
) -> StudyResults:
    """Return the results of all arms, each beside the first one."""
    by_arm = [
        [participant for participant in participants if participant.arm == n]
        for n in range(len(document.arms))
    ]
    arms = [_arm(arm, members, lang) for arm, members in zip(document.arms, by_arm, strict=True)]
    gains = [[_score(b) - _score(a) for a, b in _pairs(members, "after")] for members in by_arm]
    comparisons = [
        ArmComparison(
            name=arm.name,
            difference=_difference(mean(gains[0]), mean(gain)),
            effect=_size(group_effect(gain, gains[0])),
        )
        for arm, gain in zip(document.arms[1:], gains[1:], strict=True)
    ]
    return StudyResults(participants=len(participants), arms=arms, comparisons=comparisons)


def table(document: StudyDocument, participants: Iterable[tuple[str, ParticipantDocument]]) -> str:
    """Return a row for each answer as CSV; participants are numbered anew in every study."""
    rows: list[list[object]] = []
    for name, participant in participants:
        other = "B" if participant.first == "A" else "A"
        for stage, test in participant.tests.items():
            form = other if stage == "after" else participant.first
            about = [name, document.arms[participant.arm].name, stage, form, test.sent]
            for item, answer in test.answers.items():
                rows.append([*about, item, answer or "", "yes" if answer == RIGHT else "no"])
    return csv_of(COLUMNS, rows)


def _arm(arm: StudyArm, members: Sequence[ParticipantDocument], lang: str) -> ArmResults:
    pairs, later = _pairs(members, "after"), _pairs(members, "later")
    return ArmResults(
        name=arm.name,
        pages=arm.pages,
        assigned=len(members),
        before=sum("before" in member.tests for member in members),
        minutes=median(map(_minutes, pairs)) if pairs else None,
        learned=_change(pairs),
        kept=_change(later),
        items=[_item(n, item, pairs, later, lang) for n, item in inventory().numbered()],
        misunderstandings=[_chosen(kind, pairs, lang) for kind in inventory().misunderstandings],
    )


Pair = tuple[StoredTest, StoredTest]


def _pairs(members: Iterable[ParticipantDocument], stage: Stage) -> list[Pair]:
    """Return the first test and a later one of everyone who took both."""
    return [
        (member.tests["before"], member.tests[stage])
        for member in members
        if "before" in member.tests and stage in member.tests
    ]


def _score(test: StoredTest) -> float:
    """Return the share of right answers; a question without an answer is not right."""
    return sum(answer == RIGHT for answer in test.answers.values()) / max(1, len(test.answers))


def _minutes(pair: Pair) -> float:
    before, after = (datetime.fromisoformat(test.sent) for test in pair)
    return (after - before).total_seconds() / 60


def _change(pairs: Sequence[Pair]) -> ScoreChange:
    before, after = ([_score(pair[n]) for pair in pairs] for n in (0, 1))
    return ScoreChange(
        n=len(pairs),
        before=MeanScore(mean=mean(before), sd=spread(before)),
        after=MeanScore(mean=mean(after), sd=spread(after)),
        gain=_difference(mean(before), mean(after)),
        normalized=normalized_gain(mean(before), mean(after)),
        effect=_size(paired_effect(before, after)),
    )


def _item(
    number: int, item: Item, pairs: Sequence[Pair], later: Sequence[Pair], lang: str
) -> ItemChange:
    def right(tests: Iterable[StoredTest]) -> float | None:
        return _share(tests, lambda test: [test.answers.get(item.id) == RIGHT])

    before, after = right(before for before, _ in pairs), right(after for _, after in pairs)
    return ItemChange(
        item=item.id,
        number=number,
        about=item.about.text(lang),
        before=before,
        after=after,
        gain=_difference(before, after),
        normalized=normalized_gain(before, after),
        later=right(last for _, last in later),
    )


def _chosen(kind: str, pairs: Sequence[Pair], lang: str) -> MisunderstandingChange:
    offered = [
        item.id for item in inventory().items if kind in {option.kind for option in item.A.options}
    ]

    def chosen(tests: Iterable[StoredTest]) -> float | None:
        return _share(tests, lambda test: [test.answers.get(item) == kind for item in offered])

    before, after = chosen(before for before, _ in pairs), chosen(after for _, after in pairs)
    return MisunderstandingChange(
        kind=kind, about=inventory().misunderstandings[kind].text(lang), before=before, after=after
    )


def _share(tests: Iterable[StoredTest], judged: Callable[[StoredTest], list[bool]]) -> float | None:
    return mean([verdict for test in tests for verdict in judged(test)])


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _size(effect: Effect | None) -> EffectSize | None:
    return None if effect is None else EffectSize(**vars(effect))
