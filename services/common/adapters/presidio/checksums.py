"""Check digits of identity numbers that Presidio has no recogniser for, and of payment cards.

Pure. Each function takes a text as it was found, blanks and punctuation included, and says whether the digits fit.
"""

import re
from collections.abc import Callable
from typing import Final

_NOT_CODE: Final = re.compile(r"[^0-9A-Za-z]+")
_DIGITS: Final = re.compile(r"\D+")


def _digits(text: str) -> list[int]:
    return [int(digit) for digit in _DIGITS.sub("", text)]


def _weighted(digits: list[int], weights: tuple[int, ...]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True))


def luhn(text: str) -> bool:
    """Canada's SIN and Sweden's personal number in ten digits; payment cards."""
    total = 0
    for place, digit in enumerate(reversed(_digits(text))):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled  # noqa: PLR2004 - the largest digit
    return total % 10 == 0


def payment_card(text: str) -> bool:
    """Check a card number: an issuer's range with its lengths (ISO/IEC 7812), and Luhn's digit."""
    number = _DIGITS.sub("", text)
    return any(pattern.fullmatch(number) for pattern in _ISSUERS) and luhn(number)


_ISSUERS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"4(?:\d{12}|\d{15}|\d{18})",  # Visa
        r"(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}",  # Mastercard
        r"3[47]\d{13}",  # American Express
        r"(?:30[0-5]|309|36\d|3[89]\d)\d{11}(?:\d{2})?",  # Diners Club
        r"6(?:011|5\d{2}|4[4-9]\d|22\d)\d{12}(?:\d{3})?",  # Discover, UnionPay
        r"35\d{14}",  # JCB
        r"(?:1800|2131)\d{11}",  # JCB, older
        r"(?:5018|5020|5038|5[678]\d\d|6304|6759|676[1-3])\d{8,15}",  # Maestro
        r"62\d{14,17}",  # UnionPay
    )
)


def german_tax_id(text: str) -> bool:
    """Steuer-ID: eleven digits, ISO/IEC 7064 MOD 11,10; one digit of the first ten stands twice or three times."""
    digits = _digits(text)
    if len(digits) != 11 or digits[0] == 0:  # noqa: PLR2004
        return False
    counts = sorted(digits[:10].count(digit) for digit in set(digits[:10]))
    if counts[-1] not in {2, 3} or counts[:-1] != [1] * (len(counts) - 1):
        return False
    product = 10
    for digit in digits[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == digits[10]


def french_nir(text: str) -> bool:
    """NIR: thirteen characters and a key, 97 - number mod 97; Corsica's departments 2A and 2B count as 19 and 18."""
    code = _NOT_CODE.sub("", text).upper().replace("2A", "19", 1).replace("2B", "18", 1)
    return len(code) == 15 and code.isdigit() and 97 - int(code[:13]) % 97 == int(code[13:])  # noqa: PLR2004


def dutch_bsn(text: str) -> bool:
    """BSN: the test of eleven over nine digits."""
    digits = _digits(text)
    return len(digits) == 9 and any(digits) and _weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0  # noqa: PLR2004


def belgian_nrn(text: str) -> bool:
    """National register number: 97 - number mod 97, with a 2 before it for those born since 2000."""
    code = _DIGITS.sub("", text)
    if len(code) != 11:  # noqa: PLR2004
        return False
    return int(code[9:]) in {97 - int(code[:9]) % 97, 97 - int("2" + code[:9]) % 97}


def swiss_ahv(text: str) -> bool:
    """AHV number: thirteen digits from 756, check digit as EAN-13."""
    digits = _digits(text)
    return len(digits) == 13 and digits[:3] == [7, 5, 6] and _weighted(digits, (1, 3) * 6 + (1,)) % 10 == 0  # noqa: PLR2004


def irish_pps(text: str) -> bool:
    """PPS number: seven digits, a check letter by mod 23, perhaps one more letter."""
    code = _NOT_CODE.sub("", text).upper()
    second = ord(code[8]) - ord("A") + 1 if len(code) == 9 and code[8] != "W" else 0  # noqa: PLR2004
    total = sum(int(digit) * weight for digit, weight in zip(code[:7], range(8, 1, -1), strict=True)) + second * 9
    return "WABCDEFGHIJKLMNOPQRSTUV"[total % 23] == code[7]


def swedish_personal_number(text: str) -> bool:
    """Personnummer: a date and Luhn's digit over its last ten digits."""
    code = _DIGITS.sub("", text)[-10:]
    return 1 <= int(code[2:4]) <= 12 and (1 <= int(code[4:6]) <= 31 or 61 <= int(code[4:6]) <= 91) and luhn(code)  # noqa: PLR2004


Check = Callable[[str], bool]
