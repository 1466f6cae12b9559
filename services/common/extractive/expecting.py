"""What an answer must hold, closer than the kind: money for a price, a span for "how long", an hour for "what time".

``kinds`` tells a number from a name; a sentence with any number does not answer what something costs. Rules over the
words, read from the question's last sentence that asks (ADR 0191).
"""

import re
from collections.abc import Container
from typing import Final

from services.common.questions.kinds import CLOSED, holds
from services.common.questions.reading import Question
from services.common.questions.terms import terms

_READ_CHARS: Final = 2_000
_NUMBER: Final = (
    r"(?:\d[\d.,]{0,15}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty"
    r"|hundred|half|quarter|several)"
)
_MONEY: Final = (
    rf"\b{_NUMBER}(?:-[a-z]{{3,5}})?(?: (?:hundred|thousand|million))? (?:euros?|dollars?|pounds?|cents?|francs?)\b|"
    r"[\u20ac$\u00a3]\s?\d|\d ?%|\b\d[\d.,]{0,15} ?(?:euros?|dollars?|pounds?|cents?|per ?cent|percent|EUR|USD|GBP)\b"
    r"|\bfree\b|\bnothing\b|\bno (?:charge|fee|cost|deductible|surcharge|limit)\b|\bhalf\b|\bprice\b|\bmarket value\b"
    r"|\bat (?:cost|[\w']+ expense)\b|\bin full\b|\bpremium\b|\bnot (?:covered|refunded|paid)\b"
)
_SPAN: Final = (
    rf"\b{_NUMBER}[ -](?:\w+ )?(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?)\b"
    r"|\b(?:birthday|anniversary|lifetime|immediately|at once|forever|unlimited|no (?:deadline|limit|waiting time)"
    r"|same day|next (?:working )?day|never|always|end of|day of)\b"
)
_DATE: Final = (
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|Monday|Tuesday"
    r"|Wednesday|Thursday|Friday|Saturday|Sunday|weekdays?|weekends?)s?\b|\b(?:1[5-9]|20)\d\d\b"
    r"|\b\d{1,2}(?:st|nd|rd|th)\b"
    r"|\b\d{1,2}(?::\d\d)? ?(?:to|-|\u2013) ?\d{1,2}\b|\bday and night\b"
)
_HOUR: Final = (
    r"\b\d{1,2}(?::\d\d)? ?(?:[ap]\.?m\b|o'clock|UTC|to \d|-|\u2013)|\b\d{1,2}:\d\d\b"
    r"|\b(?:noon|midnight|day and night)\b"
)
_PHONE: Final = r"\+?\d[\d /()-]{4,20}\d"
_SIZE: Final = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twice|once|none|unlimited|any number"
    r"|no (?:minimum|maximum|limit))\b"
)

_WANTED: Final = (
    (r"\bwhat (?:number|line) (?:\w+ ){0,3}(?:ring|call|dial|phone)\b|\b(?:phone|telephone|fax) number\b", _PHONE),
    (r"\b(?:at|by|until|from) what time\b|\bwhat time\b|\bopening hours\b", _HOUR),
    (
        (
            r"\bhow (?:long|soon|quickly|fast|late)\b|\bhow much (?:time|notice|warning)\b|\b(?:what|which) (?:is "
            r"the )?(?:notice )?(?:period|deadline)\b|\bhow many (?:days|weeks|months|years|hours|minutes)\b"
        ),
        rf"{_SPAN}|{_DATE}|{_HOUR}",
    ),
    (
        (
            r"\bwhat (?:does|do|did|will|would|must|may|can) (?:[\w'-]+ ){1,6}(?:costs?|pay|owe|charge|earn)\b"
            r"|\bwhat will (?:\w+ ){1,3}cost\b|\bhow (?:much|expensive)\b(?= (?:do|does|did|is|are|was|will|would|must"
            r"|can|may|could|should|money)\b)(?=[^?]{0,80}\b(?:pay|paid|costs?|owe|charged?|earns?|fee|price|spend"
            r"|refund(?:ed)?|money|reimbursed)\b)|\bwhat(?:'s| is| was) the (?:fine|fee|price|cost|charge|salary)\b"
        ),
        _MONEY,
    ),
    (r"\bhow (?:many|deep|high|heavy|far|big|large|tall|wide|old)\b", _SIZE),
    (
        r"\b(?:since|until|by|from) when\b|\bwhen (?:is|are|was|were|did)\b|\bon which (?:day|date)\b",
        rf"{_DATE}|{_SPAN}",
    ),
)
_EXPECTED: Final = tuple((re.compile(asks, re.IGNORECASE), re.compile(held, re.IGNORECASE)) for asks, held in _WANTED)
_CONDITION: Final = re.compile(r"\b(?:when|if|after|before|until|once|as soon as|as long as|unless)\b", re.IGNORECASE)
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_DIGITS: Final = re.compile(r"\d+(?:[.,]\d+)*")


def lacks_expected(need: Question, kind_text: str, text: str) -> bool:
    """Say whether a passage holds nothing of what is expected; ``False`` where that cannot be read off a text.

    Args:
        need: the question.
        kind_text: the text that says what is asked for, that of an earlier question for a follow-up that leaves it out.
        text: the passage.
    """
    asked = kind_text[-_READ_CHARS:]
    read = _without(text[:_READ_CHARS], need.weights)
    for asks, held in _EXPECTED:
        if asks.search(asked):
            conditional = need.conditions_count and _CONDITION.search(read) is not None
            return held.search(read) is None and not conditional
    if need.kind not in CLOSED:
        return False
    return not holds(need.kind, text, asked=need.weights.keys(), conditions_count=need.conditions_count)


_OF_ITSELF: Final = re.compile(
    r"\W*(?:(?:this|the)\s(?:[a-z]+\s){1,3}is\s)?(?:valid|effective|in\sforce|in\seffect|applicable|version|edition|last\s(?:updated|revised|changed)"
    r"|revision|approved|status|as\sof)\b(?=[^.]{0,60}(?:\b(?:19|20)\d\d\b|\d\.\d|\s\d+\.?$))",
    re.IGNORECASE,
)
_ASKS_OF_IT: Final = re.compile(
    r"\b(?:when|since|until|valid\w{0,3}|effective|force|version|edition|revision|updated|revised|approved|date[ds]?|appl(?:y|ies|icable)"
    r"|current|latest|expire\w?|who)\b",
    re.IGNORECASE,
)


def tells_of_its_document(question: str, text: str) -> bool:
    """Say whether a passage begins with what its document is ("Valid from 1 March 2026") and nobody asked for that."""
    return _OF_ITSELF.match(text[:_READ_CHARS]) is not None and _ASKS_OF_IT.search(question[-_READ_CHARS:]) is None


_HOLDER: Final = re.compile(
    r"\bwho(?:'s| is| are| was| were) (?:the |our |your |its |their )(?P<role>[\w'& -]{2,60}?)"
    r"(?= (?:of|for|in|at|here|now)\b|[?.!,]|$)",
    re.IGNORECASE,
)


def names_no_holder(question: str, text: str) -> bool:
    """Say whether it is asked who holds a role that a text with its headings does not name: "Who is the CEO?"."""
    asked = _HOLDER.search(question[-_READ_CHARS:])
    wanted = frozenset(terms(asked["role"])) if asked is not None else frozenset[str]()
    return bool(wanted) and not wanted & frozenset(terms(text[:_READ_CHARS]))


def names_other_year(question: str, text: str) -> bool:
    """Say whether a question names a year, and a text with its headings names years, that one not among them."""
    asked = frozenset(_YEAR.findall(question))
    found = frozenset(_YEAR.findall(text))
    return bool(asked) and bool(found) and not asked & found


def _without(text: str, asked: Container[str]) -> str:
    """Return a text without the numbers that the question itself names."""
    return _DIGITS.sub(lambda match: "" if match.group() in asked else match.group(), text)
