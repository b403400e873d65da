"""Money, percentages and measures in both languages."""

from __future__ import annotations

from model.train.generated.lists import Chance, Said, Slot
from model.train.generated.quantities import CHINESE_DIGITS, digits, size


def money(chance: Chance) -> Said:
    """Draw a sum of money."""
    amount = size(chance)
    cents = f".{chance.randint(1, 99):02}" if chance.random() < 0.25 else ""
    shown, plain = f"{amount:,}{cents}", f"{amount}{cents}"
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
            (f"{shown} yuan", f"¥{shown}", f"{plain} RMB", f"{plain} yuan"),
            (f"{plain}元", f"{plain}块", f"{plain}块钱", f"¥{plain}", f"{plain}元人民币"),
        )
    named = f"{shown} {unit[:-1] if plain == '1' else unit}"
    return Said(
        (f"{sign}{shown}", named, f"{sign}{plain}"),
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
        one = full.split("|")[0] if number == "1" else full.split("|")[1]
        signs = [f"{number} {sign}", f"{number}{sign}"] if sign else []
        en = (f"{number} {one}", *signs)
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
