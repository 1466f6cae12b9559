"""What a person earns and where it is kept: cards, accounts, salaries."""

from typing import Any, Final

import regex
from presidio_analyzer import EntityRecognizer
from presidio_analyzer import predefined_recognizers as presidio

from services.common.adapters.presidio import checksums
from services.common.adapters.presidio.nearby import about_a_person, around, hints, phrase, sentence
from services.common.adapters.presidio.rules import RuleRecognizer

_CARD: Final = regex.compile(r"(?<![\w.-])\d(?:[ -]?\d){11,18}(?![\w-]|\.\d)")
_CARD_WORDS: Final = phrase(("card", "cards", "cc", "visa", "mastercard", "maestro", "amex"))
_ACCOUNT: Final = regex.compile(
    r"(?<!\w)(?:account|acct|a/c|konto)[\s-]?(?:number|nummer|no\b\.?|nr\b\.?|#)\s{0,3}(?:is|:|=)?\s{0,3}"
    r"(?<data>\d(?:[ -]?\d){4,16})(?![\w-])|"
    r"(?<!\w)sort\scode\s{0,3}(?:is|:)?\s{0,3}(?<data>\d\d-\d\d-\d\d)(?!\d)",
    regex.IGNORECASE,
)
_CODES: Final = r"USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|INR"
_AMOUNT: Final = regex.compile(
    rf"(?:US\$|[$€£¥₹]|\b(?:{_CODES})\b)\s?\d[\d.,' ]{{0,14}}(?<=\d)\s?(?:k|K|million|thousand)?(?!\w)|"
    r"(?<![\w.,])\d[\d.,']{0,14}(?<=\d)\s?(?:k|K)?\s?"
    rf"(?:[$€£]|(?:{_CODES}|dollars|euros|pounds|francs)\b)"
)
_PAY_WORDS: Final = (
    "salary", "salaries", "earn", "earns", "earned", "earning", "wage", "wages", "gross pay", "net pay", "base pay",
    "take-home pay", "remuneration", "annual income", "monthly income", "income", "paycheck", "payslip",
    "compensation package", "gehalt", "is paid", "was paid", "gets paid", "bonus",
)  # fmt: skip
_PAY: Final = phrase(_PAY_WORDS)


def recognizers() -> list[EntityRecognizer]:
    """Return the recognisers of this module."""
    return [
        RuleRecognizer("CREDIT_CARD", (_CARD,), _card),
        presidio.IbanRecognizer(regex_flags=regex.IGNORECASE),
        RuleRecognizer("BANK_ACCOUNT", (_ACCOUNT,), lambda *_: 0.8, ("account", "acct", "a/c", "konto", "sort")),
        RuleRecognizer("SALARY", (_AMOUNT,), _salary, hints(_PAY_WORDS)),
    ]


def _card(text: str, start: int, end: int, _artifacts: Any) -> float | None:
    number = text[start:end]
    if checksums.payment_card(number):
        return 1.0
    # Issuers have more ranges than any list; beside the word "card" the check digit is enough.
    return 0.8 if checksums.luhn(number) and _CARD_WORDS.search(around(text, start, end)) else None


def _salary(text: str, start: int, end: int, artifacts: Any) -> float | None:
    low, high = sentence(text, start, end)
    return 0.75 if _PAY.search(text, low, high) and about_a_person(text, start, end, artifacts) else None
