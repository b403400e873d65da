"""Days, years and times of day in both languages."""

from __future__ import annotations

from model.train.generated.lists import Chance, Said
from model.train.generated.quantities import CHINESE_DIGITS, digits

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def year(chance: Chance) -> Said:
    """Draw a year."""
    number = chance.randint(1800, 2049)
    spelt = "".join(CHINESE_DIGITS[int(digit)] for digit in str(number))
    return Said((str(number),), (f"{number}年", f"{number}年", f"{number}年", f"{spelt}年"))


def date(chance: Chance) -> Said:
    """Draw a date with its year."""
    number, month, day = chance.randint(1900, 2049), chance.randint(1, 12), chance.randint(1, 28)
    called = MONTHS[month - 1]
    return Said(
        (
            f"{called} {day}, {number}",
            f"{day} {called} {number}",
            f"{called} {day}{_th(day)}, {number}",
            f"{called[:3]} {day}, {number}",
            f"{number}-{month:02}-{day:02}",
        ),
        (
            f"{number}年{month}月{day}日",
            f"{number}年{month}月{day}日",
            f"{number}年{month}月{day}号",
            f"{number} 年 {month} 月 {day} 日",
            f"{number}-{month:02}-{day:02}",
        ),
    )


def day(chance: Chance) -> Said:
    """Draw a day of the week or of a month."""
    if chance.random() < 0.3:
        return weekday(chance)
    month, number = chance.randint(1, 12), chance.randint(1, 28)
    called = MONTHS[month - 1]
    return Said(
        (f"{called} {number}", f"{number} {called}", f"{called} {number}{_th(number)}"),
        (
            f"{month}月{number}日",
            f"{month}月{number}号",
            f"{digits(month)}月{digits(number)}日",
            f"{digits(month)}月{digits(number)}号",
        ),
    )


def _th(number: int) -> str:
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 != 1 else 0, "th")


def time(chance: Chance) -> Said:
    """Draw a time of day."""
    hour, minute = chance.randint(1, 12), chance.choice((0, 0, 0, 30, 15, chance.randrange(1, 60)))
    noon = chance.choice(("", "", "a.m.", "p.m."))
    part = {"": "", "a.m.": "上午"}.get(noon, "下午" if hour in (12, *range(1, 6)) else "晚上")
    if noon == "a.m." and hour < 9:
        part = "早上" if hour > 4 else "凌晨"
    if noon == "a.m." and hour == 12:
        noon = part = ""
    back = f" {noon}" if noon else ""
    if not minute:
        whole = f"{hour}{back}" if noon else f"{hour} o'clock"
        return Said(
            (whole, f"{hour}:00{back}", f"{hour}{noon.replace('.', '')}" if noon else whole),
            (f"{part}{hour}点", f"{part}{_hour(hour)}点", f"{part}{_hour(hour)}点钟"),
        )
    spoken = f"{part}{_hour(hour)}点" + ("半" if minute == 30 else f"{digits(minute)}分")
    shown = f"{hour}:{minute:02}"
    return Said(
        (f"{shown}{back}", f"{shown}{back}", f"{shown} {noon.replace('.', '').upper()}".strip()),
        (f"{part}{hour}点{minute}分", spoken, f"{part}{shown}", f"{part}{hour}点{minute:02}分"),
    )


def _hour(hour: int) -> str:
    return "两" if hour == 2 else digits(hour)


def weekday(chance: Chance) -> Said:
    """Draw a day of the week."""
    place = chance.randrange(7)
    sign = "一二三四五六日"[place]
    return Said((WEEKDAYS[place],), (f"星期{sign}", f"周{sign}", f"礼拜{sign}"))
