"""Numbers and sums in both languages."""

from __future__ import annotations

import string

from model.train.generated.lists import Chance, Said, copied

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
            high, rest = divmod(number, unit)
            if unit == 10 and high == 1:
                said = "十"
            else:
                said = ("两" if high == 2 and unit >= 1000 else digits(high)) + sign
            gap = "零" if rest and rest < unit // 10 else ""
            if not rest:
                return said
            tens = "一" if unit > 10 and 10 <= rest < 20 else ""
            return said + gap + tens + digits(rest)
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
    shown = f"{leading}.{tenths}" if tenths else str(leading)
    return Said((f"{shown} {kind}",), (zh,))


def phone(chance: Chance) -> Said:
    """Draw a telephone number."""
    groups = chance.choice(((3, 4), (3, 4, 4), (3, 3, 4), (11,), (3,)))
    number = "-".join("".join(chance.choices(string.digits, k=size)) for size in groups)
    return copied(number)


def sum_(chance: Chance) -> Said:
    """Draw an equation in symbols, the same in both languages."""
    left, sign, right, result = _equation(chance)
    gap = chance.choice((" ", " ", ""))
    tail = chance.choice((f"{gap}={gap}{result}", f"{gap}={gap}{result}", f"{gap}={gap}?"))
    return copied(f"{left}{gap}{sign}{gap}{right}{tail}")


def spoken(chance: Chance) -> Said:
    """Draw an equation in words."""
    left, sign, right, result = _equation(chance)
    en, zh = {
        "+": ("plus", "加"),
        "-": ("minus", "减"),
        "×": ("times", "乘以"),
        "*": ("times", "乘以"),
        "÷": ("divided by", "除以"),
        "/": ("divided by", "除以"),
    }[sign]
    words = (left, right, result)
    english = [ENGLISH_DIGITS[n] if n <= 10 else str(n) for n in words]
    chinese = [digits(n) for n in words]
    if chance.random() < 0.3:
        return Said(
            (f"What is {left} {en} {right}?", f"What's {english[0]} {en} {english[1]}?"),
            (f"{left}{zh}{right}等于多少？", f"{chinese[0]}{zh}{chinese[1]}等于几？"),
        )
    return Said(
        (
            f"{left} {en} {right} is {result}.",
            f"{english[0].capitalize()} {en} {english[1]} equals {english[2]}.",
            f"{left} {en} {right} equals {result}.",
        ),
        (f"{left}{zh}{right}等于{result}。", f"{chinese[0]}{zh}{chinese[1]}等于{chinese[2]}。"),
    )


def _equation(chance: Chance) -> tuple[int, str, int, int]:
    a, b = size(chance, 2), size(chance, 2)
    sign = chance.choice("++-×*÷/")
    if sign == "+":
        return a, sign, b, a + b
    if sign == "-":
        return a + b, sign, b, a
    return (a, sign, b, a * b) if sign in "×*" else (a * b, sign, b, a)
