"""Rule-based validators (ERCP 1.0 §7): faults of form, conclusions without a reason, statements with two readings.

Rules for English, deliberately few and narrow; what they cannot tell they leave. The confidences are ADR 0074's.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from services.ercp.domain.faults import Suspicion
from services.ercp.domain.records import Evidence, Sentence
from services.ercp.domain.vocabulary import Detector, ErrorType

EMPTY: Final = 1.0
CUT: Final = 1.0
UNREADABLE: Final = 0.95
UNBALANCED: Final = 0.80
UNFINISHED: Final = 0.78
NO_REASON: Final = 0.80
BARE_CERTAINTY: Final = 0.78
BARE_VERDICT: Final = 0.76
BARE_CONCLUSION: Final = 0.78
TWO_READINGS: Final = 0.76
POINTS_NOWHERE: Final = 0.55
"""A first word that refers to nothing mostly means the text itself, as in "This is the plan": no error alone."""
_KEPT: Final = "\n\t\r\u200c\u200d"
_REASON: Final = re.compile(
    r"\b(?:because|since|as (?:it|they|the|this|that|there|we|its)|due to|owing to|thanks to|the reason|follows from|"
    r"for (?:this|that|these) reasons?|given (?:that|the)|so that|in order to|on the grounds|otherwise|which (?:is why|"
    r"means|makes|causes|lowers|raises|reduces|increases)|caused by|results? from|explains?|by reason of|in view of|"
    r"after all|this is (?:because|why)|that is why|if|when|unless|to (?:avoid|prevent|keep|ensure|protect|stop))\b",
    re.IGNORECASE,
)
_CONCLUDES: Final = re.compile(
    r"^(?:therefore|thus|hence|consequently|accordingly|so|ergo|as a (?:result|consequence)|it follows|"
    r"this (?:proves|shows|means)|for (?:this|that) reason|in conclusion|clearly|which is why)\b",
    re.IGNORECASE,
)
_CONCLUDING: Final = re.compile(r"\b(?:therefore|it follows that|hence|consequently|must therefore)\b", re.IGNORECASE)
_CERTAIN: Final = re.compile(
    r"\b(?:obviously|clearly|undoubtedly|without (?:a |any )?doubt|of course|needless to say|everyone knows|"
    r"beyond (?:question|dispute)|it is (?:clear|evident|obvious|certain|self-evident)|there is no question)\b",
    re.IGNORECASE,
)
_ASSURING: Final = re.compile(
    r"\b(?:certainly|surely|definitely|absolutely|(?:there is |there can be )?no doubt|unquestionably|indisputably|"
    r"it goes without saying|as anyone can see)\b",
    re.IGNORECASE,
)
"""Words that assure; beside a necessity they stand in place of its reason."""
_VERDICT: Final = re.compile(
    r"\b(?:(?:is|are|was|were|would be|remains?) (?:the |clearly the |by far the )?(?:best|better|worst|safest|safer|"
    r"cheapest|right|wrong|wiser|preferable|superior|unsuitable|suitable|advisable|the only)|"
    r"should (?:be |not |therefore |never |always )?\w+|ought to|(?:we|i|you) (?:recommend|advise)|"
    r"is (?:recommended|to be preferred|advised)|the (?:recommendation|verdict|conclusion) is)\b",
    re.IGNORECASE,
)
_NECESSARY: Final = re.compile(
    r"\b(?:must|ha(?:s|ve) to|need(?:s)? to|cannot|can not|may not|should|ought to|unavoidable|inevitable|necessary|"
    r"no way around|required|impossible|out of the question)\b",
    re.IGNORECASE,
)
_MEASURED: Final = re.compile(
    r"\b(?:exceed|above|below|beyond|over the|under the|more than|less than|fail|broke|leak|violat|breach|forbid|"
    r"prohibit|limit|allows? (?:at most|only|no)|requires?|"
    r"too (?:high|low|large|small|long|short|weak|heavy|late|hot|cold))",
    re.IGNORECASE,
)
_SAYS_WHY: Final = re.compile(
    r"^(?:the reason|this is because|because|after all|otherwise|for |that is because|why\b|since\b)", re.IGNORECASE
)
_ASKS_FOR_DECISION: Final = re.compile(
    r"^\W*(?:should|ought|shall|do we need|is it (?:right|wise|better|necessary))\b", re.IGNORECASE
)
_NUMBERS: Final = {
    word: float(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905 - one line
    )
}
_NUMBER: Final = rf"(?:{'|'.join(_NUMBERS)}|\d+(?:\.\d+)?)"
_CHOICE: Final = re.compile(rf"\b{_NUMBER}(?: or {_NUMBER})+\b", re.IGNORECASE)
_OPEN_PRICE: Final = re.compile(
    rf"\b(?:is|are|costs?|takes|lasts|amounts to)\s(?P<first>{_NUMBER})\sor\s(?P<second>{_NUMBER})"
    r"(?:\s[a-z%\u20ac]{1,12})?[.!]?\s*$",
    re.IGNORECASE,
)
"""A sentence that ends with two values of one thing and says nothing of which holds when."""
_TOLD: Final = re.compile(
    r"\bthe \w+ (?:told|informed|assured|warned|promised|wrote|reminded|accused)(?: to)? the \w+ (?:that|of|because) "
    r"(?:he|she|they)\b",
    re.IGNORECASE,
)
_POINTING: Final = re.compile(
    r"^(?:it|they|this|that|these|those|he|she|both|such)\s+(?:is|are|was|were|has|have|had|will|would|can|could|must|may|"
    r"might|does|do|did|should|[a-z]+s|[a-z]+ed)\b",
    re.IGNORECASE,
)
_TWO_READINGS: Final = re.compile(
    r"\b(?:can be (?:read|understood|taken) (?:in (?:two|several|more than one)|either)|could mean either|"
    r"may or may not|either of the two|in one (?:sense|reading)|and/or|one of (?:them|the two)\b(?! (?:is|are) the))",
    re.IGNORECASE,
)
_FENCE: Final = "```"
_PAIRS: Final = (("(", ")"), ("[", "]"), ("{", "}"))
_QUOTE: Final = re.compile(
    r'(?P<opens>(?:(?<=[\s(\[])|^)"(?=\w)|\u201e|(?<![\w.,;!?…])\u201c)'
    r'|(?P<closes>(?<=[^\s\d(\[])"|\u201d|(?<=[\w.,;!?…])\u201c)',
    re.MULTILINE,
)
"""A quotation mark, one that opens here and closes there by what stands beside it; behind a digit it may be inches or a
closing mark."""
_MAY_CLOSE: Final = re.compile(r'\d"')
_ENDS: Final = (".", "!", "?", "…", ":", ";", '"', "'", ")", "]", "\u201d", "\u2019", "*", "|", "`", "}", "»")
_PROSE_WORDS: Final = 4


def validate(text: str, sentences: Sequence[Sentence], *, question: str = "", was_cut: bool = False) -> list[Suspicion]:
    """Return what the rules have against a text.

    Args:
        text: what was written.
        sentences: its sentences.
        question: what it answers; empty when that is not known.
        was_cut: the text was longer than what is verified.
    """
    if not text.strip():
        return [_suspicion(ErrorType.SYNTAX_ERROR, EMPTY, "the text is empty", None)]
    found = list(_form(text, sentences, was_cut=was_cut))
    found += _justification(sentences, question)
    found += _ambiguity(sentences)
    return found


def _form(text: str, sentences: Sequence[Sentence], *, was_cut: bool) -> Iterator[Suspicion]:
    if was_cut:
        yield _suspicion(ErrorType.SYNTAX_ERROR, CUT, "the text is longer than what is verified", None)
    broken = next((at for at, char in enumerate(text) if _is_unreadable(char)), None)
    if broken is not None:
        yield _suspicion(ErrorType.SYNTAX_ERROR, UNREADABLE, "a character that is no text", (broken, broken + 1))
    if text.count(_FENCE) % 2:
        at = text.rfind(_FENCE)
        yield _suspicion(ErrorType.SYNTAX_ERROR, UNBALANCED, "a code fence is not closed", (at, at + len(_FENCE)))
    open_quote = _unclosed_quote(text)
    if open_quote is not None:
        yield _suspicion(ErrorType.SYNTAX_ERROR, UNBALANCED, "a quotation is not closed", (open_quote, open_quote + 1))
    for left, right in _PAIRS:
        if text.count(left) > text.count(right):
            at = text.rfind(left)
            yield _suspicion(ErrorType.SYNTAX_ERROR, UNBALANCED, f"{left} is not closed", (at, at + 1))
    last = sentences[-1] if sentences else None
    if last is not None and len(last.text.split()) >= _PROSE_WORDS and not last.text.rstrip().endswith(_ENDS):
        yield _suspicion(ErrorType.SYNTAX_ERROR, UNFINISHED, "the last sentence does not end", (last.start, last.end))


def _unclosed_quote(text: str) -> int | None:
    """Return where a quotation mark opens that nothing closes before the next one opens; ``None`` of none.

    A paragraph that begins with a mark goes on with the quotation of the one before.
    """
    opened: int | None = None
    for match in _QUOTE.finditer(text):
        if match["closes"]:
            opened = None
        elif opened is not None and not _closed_by_digit(text, opened, match.start()) and not _begins(text, match):
            return opened
        else:
            opened = match.start()
    return opened if opened is not None and not _closed_by_digit(text, opened, len(text)) else None


def _closed_by_digit(text: str, start: int, end: int) -> bool:
    return _MAY_CLOSE.search(text, start, end) is not None


def _begins(text: str, match: re.Match[str]) -> bool:
    return match.start() == 0 or text[match.start() - 1] == "\n"


def _is_unreadable(char: str) -> bool:
    return char == "\ufffd" or (char not in _KEPT and unicodedata.category(char) in {"Cc", "Cs", "Co", "Cn"})


def _justification(sentences: Sequence[Sentence], question: str) -> Iterator[Suspicion]:
    decides = bool(_ASKS_FOR_DECISION.search(question))
    for number, sentence in enumerate(sentences):
        own = sentence.text
        if _REASON.search(own) or _gives_reason(sentences[number + 1 : number + 2]):
            continue
        if _CONCLUDES.match(own) and number == 0:
            yield _claim(sentence, NO_REASON, "a conclusion that nothing stands before")
        elif (
            (_CONCLUDES.match(own) or _CONCLUDING.search(own))
            and _NECESSARY.search(own)
            and not _measured(sentences, number)
        ):
            yield _claim(sentence, BARE_CONCLUSION, "a conclusion about what has to be, without what it rests on")
        elif _CERTAIN.search(own) or (_ASSURING.search(own) and (_NECESSARY.search(own) or _VERDICT.search(own))):
            yield _claim(sentence, BARE_CERTAINTY, "certainty in place of a reason")
        elif decides and (_NECESSARY.search(own) or _VERDICT.search(own)) and _content(own) & _content(question):
            yield _claim(sentence, BARE_VERDICT, "a decision that was asked for, without a reason")


def _gives_reason(following: Sequence[Sentence]) -> bool:
    """Say whether the next sentence says why."""
    return any(_SAYS_WHY.match(each.text) for each in following)


def _measured(sentences: Sequence[Sentence], number: int) -> bool:
    """Say whether the sentence before says that something is beyond a bound or failed: that speaks for a necessity."""
    return number > 0 and bool(_MEASURED.search(sentences[number - 1].text))


def _content(text: str) -> set[str]:
    found = {word[:6] for word in re.findall(r"[a-z]{4,}", text.lower())}
    return found - {"theref", "hence", "that", "this", "with", "must", "should", "have", "what", "which", "when"}


def _ambiguity(sentences: Sequence[Sentence]) -> Iterator[Suspicion]:
    if sentences and _POINTING.match(sentences[0].text):
        why = "what the first word refers to is not said"
        yield _suspicion(ErrorType.AMBIGUITY, POINTS_NOWHERE, why, _span(sentences[0]))
    for sentence in sentences:
        why = ""
        if _TWO_READINGS.search(sentence.text):
            why = "it can be read in two ways"
        elif _TOLD.search(sentence.text):
            why = "the pronoun may mean either of two"
        elif any(_far_apart(match.group()) for match in _CHOICE.finditer(sentence.text)) or _is_open(sentence.text):
            why = "amounts that differ stand to choice"
        if why:
            yield _suspicion(ErrorType.AMBIGUITY, TWO_READINGS, why, _span(sentence))


def _far_apart(choice: str) -> bool:
    """Say whether the numbers of ``5 or 50`` differ so much that the choice matters; three are always too many."""
    named = [word for word in re.findall(r"[a-z]+|\d+(?:\.\d+)?", choice.lower()) if word != "or"]
    found = [_NUMBERS[word] if word in _NUMBERS else float(word) for word in named]
    return len(found) > 2 or max(found) >= 3 * max(min(found), 1e-9)  # noqa: PLR2004 - "one or two" is a way to speak


def _is_open(text: str) -> bool:
    """Say whether a sentence leaves it at two values that are no neighbors: "two or three" is a way to speak."""
    match = _OPEN_PRICE.search(text)
    if match is None:
        return False
    first, second = (_NUMBERS.get(match[name].lower(), None) for name in ("first", "second"))
    first, second = (
        float(match["first"]) if first is None else first,
        float(match["second"]) if second is None else second,
    )
    return abs(first - second) > 1


def _claim(sentence: Sentence, confidence: float, why: str) -> Suspicion:
    return _suspicion(ErrorType.MISSING_JUSTIFICATION, confidence, why, _span(sentence))


def _span(sentence: Sentence) -> tuple[int, int]:
    return sentence.start, sentence.end


def _suspicion(kind: ErrorType, confidence: float, why: str, span: tuple[int, int] | None) -> Suspicion:
    return Suspicion(kind, Detector.RULE, confidence, (Evidence(Detector.RULE.value, None, why),), span)
