"""The results of a study: scores before and after, by arm, item and misunderstanding."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from statistics import median

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
from app.studies.statistics import (
    Effect,
    group_effect,
    mean,
    normalized_gain,
    paired_effect,
    spread,
)

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
