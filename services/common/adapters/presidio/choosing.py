"""One list without overlaps out of what all recognisers proposed. Pure and deterministic."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from services.common.ports.personal_data import PersonalData

_TELLING: Final = (
    "CREDIT_CARD", "IBAN_CODE", "EMAIL_ADDRESS", "US_SSN", "UK_NINO", "FR_NIR", "DE_TAX_ID", "PASSPORT",
    "DRIVER_LICENSE", "EMPLOYEE_ID", "NATIONAL_ID", "DATE_OF_BIRTH", "STREET_ADDRESS", "BANK_ACCOUNT", "IP_ADDRESS",
    "SALARY", "PHONE_NUMBER", "ZIP_CODE", "PERSON",
)  # fmt: skip
_RANK: Final = {name: rank for rank, name in enumerate(_TELLING)}


def chosen(proposed: Sequence[PersonalData]) -> list[PersonalData]:
    """Return findings that do not overlap, ordered by start.

    Of two that overlap the surer one stands, then the longer, then the one whose type is more telling.
    """
    best = sorted(set(proposed), key=_order)
    kept: list[PersonalData] = []
    starts: list[int] = []
    for one in best:
        at = bisect_left(starts, one.start)
        free = (at == 0 or kept[at - 1].end <= one.start) and (at == len(kept) or one.end <= kept[at].start)
        if free:
            kept.insert(at, one)
            starts.insert(at, one.start)
    return kept


def _order(one: PersonalData) -> tuple[float, int, int, int, str]:
    return -one.confidence, one.start - one.end, _RANK.get(one.type, len(_RANK)), one.start, one.type
