"""Quantities in both languages: numbers and sums, money and measures, days and times."""

from __future__ import annotations

import string

from model.train.generated.lists import Chance, Said, Slot, copied

ENGLISH_DIGITS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
)
CHINESE_DIGITS = "零一二三四五六七八九十"


def digits(number: int) -> str:
    """Return a number from 0 to 99,999 in Chinese characters, as spoken: 105 is 一百零五."""
    if number < 10:
        return CHINESE_DIGITS[number]
    for unit, sign in ((10_000, "万"), (1000, "千"), (100, "百"), (10, "十")):
        if number >= unit:
            high, remainder = divmod(number, unit)
            if unit == 10 and high == 1:
                spelled = "十"
            else:
                spelled = ("两" if high == 2 and unit >= 1000 else digits(high)) + sign
            gap = "零" if remainder and remainder < unit // 10 else ""
            if not remainder:
                return spelled
            tens = "一" if unit > 10 and 10 <= remainder < 20 else ""
            return spelled + gap + tens + digits(remainder)
    raise ValueError(f"number must be at least 0, not {number}")


def size(chance: Chance, longest: int = 4, least: int = 1) -> int:
    """Draw a number of at most `longest` digits; all numbers of digits are equally likely."""
    return chance.randint(least, 10 ** chance.randint(1, longest) - 1)


def small(chance: Chance) -> Said:
    """Draw a small count, 3 to 10."""
    number = chance.randint(3, 10)
    return Said((ENGLISH_DIGITS[number], str(number)), (digits(number), str(number)))


def age(chance: Chance) -> Said:
    """Draw a person's age."""
    number = chance.randint(3, 99)
    return Said((str(number),), (str(number), digits(number)))


def integer(chance: Chance) -> Said:
    """Draw a whole number of at least 2."""
    number = size(chance, 5, least=2)
    return Said(
        (f"{number:,}" if number > 9999 else str(number), f"{number:,}", str(number)),
        (str(number),),
    )


def decimal(chance: Chance) -> Said:
    """Draw a number with a decimal point."""
    places = chance.choice((1, 1, 2))
    return copied(f"{size(chance, 3)}.{chance.randrange(10**places):0{places}}")


def bignumber(chance: Chance) -> Said:
    """Draw a large round number; Chinese counts in units of 10⁴ and 10⁸."""
    leading = chance.randint(1, 99)
    kind = chance.choice(("thousand", "million", "million", "billion"))
    if kind == "thousand":
        number = leading * chance.choice((1000, 10_000))
        zh = f"{number // 10_000}万" if number % 10_000 == 0 else str(number)
        return Said((f"{number:,}", str(number)), (zh, str(number)))
    tenths = chance.choice((0, 0, chance.randrange(10)))
    if kind == "million":  # 1.5 million = 150万
        hundreds = leading * 100 + tenths * 10
        zh = f"{hundreds}万" if hundreds < 10_000 else f"{hundreds / 10_000:g}亿"
    else:  # 1.5 billion = 15亿
        zh = f"{leading * 10 + tenths}亿"
    written = f"{leading}.{tenths}" if tenths else str(leading)
    return Said((f"{written} {kind}",), (zh,))


def phone(chance: Chance) -> Said:
    """Draw a telephone number."""
    groups = chance.choice(((3, 4), (3, 4, 4), (3, 3, 4), (11,), (3,)))
    number = "-".join("".join(chance.choices(string.digits, k=size)) for size in groups)
    return copied(number)


def sum_(chance: Chance) -> Said:
    """Draw an equation in symbols, the same in both languages."""
    first, sign, right, result = _equation(chance)
    gap = chance.choice((" ", " ", ""))
    tail = chance.choice((f"{gap}={gap}{result}", f"{gap}={gap}{result}", f"{gap}={gap}?"))
    return copied(f"{first}{gap}{sign}{gap}{right}{tail}")


def spoken(chance: Chance) -> Said:
    """Draw an equation in words."""
    first, sign, right, result = _equation(chance)
    en, zh = {
        "+": ("plus", "加"),
        "-": ("minus", "减"),
        "×": ("times", "乘以"),
        "*": ("times", "乘以"),
        "÷": ("divided by", "除以"),
        "/": ("divided by", "除以"),
    }[sign]
    words = (first, right, result)
    english = [ENGLISH_DIGITS[n] if n <= 10 else str(n) for n in words]
    chinese = [digits(n) for n in words]
    if chance.random() < 0.3:
        return Said(
            (f"What is {first} {en} {right}?", f"What's {english[0]} {en} {english[1]}?"),
            (f"{first}{zh}{right}等于多少？", f"{chinese[0]}{zh}{chinese[1]}等于几？"),
        )
    return Said(
        (
            f"{first} {en} {right} is {result}.",
            f"{english[0].capitalize()} {en} {english[1]} equals {english[2]}.",
            f"{first} {en} {right} equals {result}.",
        ),
        (f"{first}{zh}{right}等于{result}。", f"{chinese[0]}{zh}{chinese[1]}等于{chinese[2]}。"),
    )


def _equation(chance: Chance) -> tuple[int, str, int, int]:
    a, b = size(chance, 2), size(chance, 2)
    sign = chance.choice("++-×*÷/")
    if sign == "+":
        return a, sign, b, a + b
    if sign == "-":
        return a + b, sign, b, a
    return (a, sign, b, a * b) if sign in "×*" else (a * b, sign, b, a)


def money(chance: Chance) -> Said:
    """Draw a sum of money."""
    amount = size(chance)
    cents = f".{chance.randint(1, 99):02}" if chance.random() < 0.25 else ""
    written, plain = f"{amount:,}{cents}", f"{amount}{cents}"
    sign, unit, zh = chance.choice(
        (
            ("$", "dollars", "美元"),
            ("$", "dollars", "美元"),
            ("€", "euros", "欧元"),
            ("£", "pounds", "英镑"),
            ("", "yuan", "元"),
            ("", "yuan", "元"),
        )
    )
    if not sign:
        return Said(
            (f"{written} yuan", f"¥{written}", f"{plain} RMB", f"{plain} yuan"),
            (f"{plain}元", f"{plain}块", f"{plain}块钱", f"¥{plain}", f"{plain}元人民币"),
        )
    named = f"{written} {unit[:-1] if plain == '1' else unit}"
    return Said(
        (f"{sign}{written}", named, f"{sign}{plain}"),
        (f"{plain}{zh}", f"{sign}{plain}", f"{plain} {zh}", f"{plain}{zh}"),
    )


def percent(chance: Chance) -> Said:
    """Draw a percentage."""
    number = chance.randint(1, 100)
    if chance.random() < 0.2:
        return Said(*[(f"{number}.{chance.randint(1, 9)}%",)] * 2)
    return Said(
        (f"{number}%", f"{number} percent", f"{number} per cent"),
        (f"{number}%", f"百分之{digits(number)}", f"百分之{number}"),
    )


def measured(*units: tuple[str, str, str]) -> Slot:
    """Return a slot of numbers with a unit.

    A unit is its English name as "singular|plural", its symbol or "", and its Chinese name.
    """

    def slot(chance: Chance) -> Said:
        full, sign, zh = chance.choice(units)
        number = str(size(chance, 3))
        if chance.random() < 0.2:
            number += f".{chance.randint(1, 9)}"
        unit = full.split("|")[0] if number == "1" else full.split("|")[1]
        signs = [f"{number} {sign}", f"{number}{sign}"] if sign else []
        en = (f"{number} {unit}", *signs)
        return Said(en, (f"{number}{zh}", f"{number} {zh}", *signs))

    return slot


def temperature(chance: Chance) -> Said:
    """Draw a temperature."""
    number = chance.randint(1, 110)
    return Said(
        (f"{number} degrees", f"{number}°C", f"{number} °C", f"{number} degrees Celsius"),
        (f"{number}度", f"{number}°C", f"{number}℃", f"{number}摄氏度"),
    )


def height(chance: Chance) -> Said:
    """Draw a person's height."""
    number = chance.randint(50, 99)
    tens, ones = divmod(number, 10)
    short = f"1.{number}" if ones else f"1.{tens}"
    spelt = f"一米{CHINESE_DIGITS[tens]}{CHINESE_DIGITS[ones] if ones else ''}"
    return Said((f"{short} meters", f"{short} m", f"1{number} cm"), (f"{short}米", spelt, spelt))


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
    written = f"{hour}:{minute:02}"
    return Said(
        (
            f"{written}{back}",
            f"{written}{back}",
            f"{written} {noon.replace('.', '').upper()}".strip(),
        ),
        (f"{part}{hour}点{minute}分", spoken, f"{part}{written}", f"{part}{hour}点{minute:02}分"),
    )


def _hour(hour: int) -> str:
    return "两" if hour == 2 else digits(hour)


def weekday(chance: Chance) -> Said:
    """Draw a day of the week."""
    place = chance.randrange(7)
    sign = "一二三四五六日"[place]
    return Said((WEEKDAYS[place],), (f"星期{sign}", f"周{sign}", f"礼拜{sign}"))
