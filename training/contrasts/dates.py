"""Dates: another day, month, year or weekday; and the same date written in another order or less exactly."""

import random
import re
from collections.abc import Iterator
from typing import Final

from training.contrasts.change import Change, Edit, Scene, single
from training.contrasts.mentions import MONTHS, WEEKDAYS, Date, dates

_WEEKDAY: Final = re.compile(rf"(?<!\w)({'|'.join(WEEKDAYS)})(?!\w)")
_LAST_DAY: Final = 28
"""Every month has it, so that any month may be put in its place."""


def other_dates(text: str, scene: Scene, choice: random.Random) -> Iterator[Change]:
    """One part of a date exchanged: the year for another of the premise or one near by, the month, the day."""
    in_premise = sorted({date.year for date in dates(scene.premise) if date.year is not None})
    taken = {date.year for date in dates(text)}
    for date in dates(text):
        if date.year is not None:
            others = [year for year in in_premise if year not in taken]
            near = date.year + choice.choice((-1, 1)) * choice.randint(1, 12)
            year = choice.choice(others) if others and choice.random() < 0.5 else near  # noqa: PLR2004
            at = text.rindex(str(date.year), date.start, date.end)
            yield single("dates.year", Edit(at, at + len(str(date.year)), str(year)))
        if date.month is not None:
            at = text.index(date.month, date.start)
            month = choice.choice([month for month in MONTHS if month != date.month])
            if (date.day or 1) <= _LAST_DAY:
                yield single("dates.month", Edit(at, at + len(date.month), month))
        if date.day is not None:
            found = re.compile(rf"(?<!\d){date.day}(?!\d)").search(text, date.start, date.end)
            day = choice.choice([day for day in range(1, _LAST_DAY + 1) if day != date.day])
            if found is not None:
                yield single("dates.day", Edit(*found.span(), str(day)))
    for match in _WEEKDAY.finditer(text):
        day_name = choice.choice([other for other in WEEKDAYS if other != match.group()])
        yield single("dates.weekday", Edit(*match.span(), day_name))


def rewritten(text: str, _scene: Scene, _choice: random.Random) -> Iterator[Change]:
    """March 5, 1987 as 5 March 1987 and the other way round."""
    for date in dates(text):
        if date.day is not None:
            year = "" if date.year is None else str(date.year)
            if date.order.startswith("md"):
                new = f"{date.day} {date.month} {year}".rstrip()
            else:
                new = f"{date.month} {date.day}, {year}".rstrip(", ")
            yield single("dates.rewritten", Edit(date.start, date.end, new), keeps=True, back=True)


def less_exact(text: str, _scene: Scene, choice: random.Random) -> Iterator[Change]:
    """On March 5, 1987 as in March 1987 or in 1987: still true, while the exact date does not follow from it."""
    for date in dates(text):
        before = text[: date.start]
        if date.day is None or date.year is None or not before.lower().endswith("on "):
            continue
        at = date.start - len("on ")
        new = choice.choice((f"{date.month} {date.year}", str(date.year)))
        word = "In " if before[at] == "O" else "in "
        end = date.end + (text[date.end : date.end + 1] == "," and _closes(text, date))
        yield single("dates.less exact", Edit(at, end, word + new), keeps=True, back=False)


def _closes(text: str, date: Date) -> bool:
    """Whether the comma after an American date belongs to the date and not to the sentence."""
    return date.order == "mdy" and date.start > len("on ") and not text[date.end + 1 :].lstrip()[:1].isupper()
