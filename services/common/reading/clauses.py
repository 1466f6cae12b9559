"""Decomposition of compound sentences into clauses (SPEC-005 §3.4): "X is true and Y happened in 2024" is two claims.

A sentence is cut before a coordinator, and at a semicolon, a colon or a comma between main clauses, when both sides can
stand alone: the left one has a finite verb, the right one opens with a subject and has a finite verb of its own, not
one of a relative clause. In doubt it is cut, for a fabrication must not hide behind a true clause; a cut never loses a
word.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from services.common.reading.lexicon import (
    AUXILIARIES,
    BASE_VERBS,
    CONTRACTED,
    FINITE_VERBS,
    IMPERATIVES,
    SUBJECT_OPENERS,
    SUBORDINATORS,
)
from services.common.reading.text_types import Span
from services.common.reading.words import Word, words

_CONJUNCTIONS: Final = "and|but|while|whereas|although|though|yet|so|or"
_BLANKS: Final = r"(?<!\s)\s++"
"""A whole run of blanks: a search that began again inside it would take time with the square of its length."""
_COORDINATOR: Final = re.compile(
    rf"(?P<hard>(?:{_BLANKS})?+;\s++|{_BLANKS}[–—]\s++)|(?P<colon>:\s++(?=[^\W\d_]))"  # noqa: RUF001
    rf"|(?P<soft>(?:,\s++|{_BLANKS})(?=(?:{_CONJUNCTIONS})\s)(?!so\s(?:long|far)\sas\b))"
    r"|(?P<comma>,\s++(?=[^\W\d_]))",
    re.IGNORECASE,
)
_CONJUNCTION: Final = re.compile(rf"(?:{_CONJUNCTIONS})\s+", re.IGNORECASE)
_NOMINATIVES: Final = frozenset({"it", "they", "he", "she", "we", "i", "you", "there"})
"""Pronouns that are subjects wherever they open a clause: the word behind them is a verb, known or not."""
_PREPOSITIONS: Final = frozenset(
    """
    in on at by for from to with without of about after before during under over between among against within through
    into onto upon per via across along around behind beside besides beyond inside near outside towards toward
    throughout despite like unlike as than until till since
    """.split()  # noqa: SIM905 - a list would be six times as long
)
_ARTICLES: Final = frozenset({"a", "an", "the", "its", "their", "his", "her", "our", "your", "my", "each", "every"})
_EXCEPTING: Final = frozenset({"apart", "except", "excepting", "excluding", "barring", "save"})
_OBJECT_NEEDED: Final = frozenset({"cost", "costs", "cut", "cuts", "set", "sets", "hit", "hits"})
"""Verbs that nothing but an object follows: at the end they are nouns, "fire or a power cut", "and running costs"."""
_AS_PREPOSITIONS: Final = frozenset({"as", "since", "until", "till", "before", "after", "so"})
"""Subordinators that have a mere noun with them as often as a clause."""
_AS_PRONOUNS: Final = frozenset({"that", "which", "who", "whom", "whose", "what", "how"})
"""Those that a verb may follow at once, or that point: a subject opens with an article behind them."""
_MIN_PARTICIPLE: Final = 5
_NOUN_REACH: Final = 6
"""The finite verb of a clause with a noun for its subject follows within so many words."""
_ADVERBS: Final = frozenset({"then", "also", "thus", "later", "still", "therefore", "hence", "often", "only", "now"})
_SUBJECT_REACH: Final = 12
"""A finite verb must follow within so many words of the right side's opening."""
_RELATIVES: Final = frozenset({"who", "which", "that"})
_HEADS: Final = AUXILIARIES - {"be", "been", "being", "having", "not"}
_SHORT_SUBJECT: Final = 4
_COUNTED: Final = frozenset({"all", "every", "everyone", "everybody", "everything", "each", "any", "many", "one"})
"""Behind a "not" they open a subject: "not all members pay"."""
_MIN_WORDS: Final = 2
_OPEN: Final = "([{"
_CLOSE: Final = ")]}"


def clauses(text: str, start: int, end: int) -> list[Span]:
    """Return the clauses of the sentence ``text[start:end]`` in order; together they hold all of its words."""
    sentence = text[start:end]
    cuts = _candidate_cuts(sentence)
    if not cuts:
        return [Span(start, end)]
    read = _Words.of(sentence)
    marks = _Marks.of(sentence)
    chosen = [0]
    for at, (kind, left_end, right_start) in enumerate(cuts):
        following = cuts[at + 1][1] if at + 1 < len(cuts) else len(sentence)
        later = cuts[at + 1 : at + 1 + _SUBJECT_REACH]
        # "and no, you need not pay", "; according to the leaflet, you start again": their verb stands behind a comma.
        listed = kind in _JOINING and not _ANSWERS.match(sentence, right_start)
        right = read.right_side(right_start, following, _list_end(sentence, later) if listed else len(sentence))
        opens = cuts[at - 1][2] if at else 0
        if kind == "hard" and at + 1 < len(cuts) and cuts[at + 1][0] == "hard":
            # What stands between two semicolons stands for itself.
            right = [word for word in right if word.start < following]
        # After a semicolon a subject is enough: its verb may be one that the lists do not know.
        needs_verb = kind != "hard"
        if _WHICHEVER.match(sentence, left_end) or (
            kind in _JOINING
            and (
                _is_conditioned(sentence, chosen[-1], left_end, marks, right_start)
                or _goes_on(sentence, left_end, right)
                or _BETWEEN.search(sentence, max(chosen[-1], left_end - _BETWEEN_CHARS), left_end)
                or _EVEN.search(sentence, max(chosen[-1], left_end - _EVEN_CHARS), right_start + _THOUGH_CHARS)
                or read.awaits_verb(chosen[-1], left_end, either=_OR.match(sentence, right_start) is not None)
            )
        ):
            continue
        is_clause = _is_clause(sentence, right, kind) or (kind == "hard" and read.main_follows(sentence, right, later))
        if is_clause and read.stands_alone(chosen[-1], left_end, needs_verb=needs_verb):
            if kind == "comma" and (read.opens_subordinate(chosen[-1]) or _awaits_main(sentence, opens, left_end)):
                continue
            chosen.append(right_start)
    bounds = [*chosen, len(sentence)]
    return [_trimmed(sentence, left, right, start) for left, right in pairwise(bounds)]


_WHICHEVER: Final = re.compile(r",?\s(?:or\s[^.;:]{1,60}?,?\s)?whichever\b", re.IGNORECASE)
"""Of two ends of one thing: "for 6 months or 6,000 miles, whichever you reach first"."""


@dataclass(frozen=True, slots=True)
class _Marks:
    """Where a sentence has words that open a condition, and where it pauses; read once for all of its coordinators."""

    opens: Sequence[int]
    closes: Sequence[int]
    pauses: Sequence[int]

    @classmethod
    def of(cls, sentence: str) -> "_Marks":
        found = list(_CONDITION.finditer(sentence))
        pauses = [match.start() for match in _PAUSE.finditer(sentence)]
        return cls([match.start() for match in found], [match.end() for match in found], pauses)

    def is_open(self, begin: int, end: int) -> bool:
        """Say whether the last condition of a stretch has no pause behind it."""
        last = bisect_right(self.closes, end) - 1
        if last < 0 or self.opens[last] < begin:
            return False
        pause = bisect_left(self.pauses, self.closes[last])
        return pause == len(self.pauses) or self.pauses[pause] >= end


def _is_conditioned(sentence: str, begin: int, end: int, marks: _Marks, right_start: int) -> bool:
    """Say whether a coordinator stands within a condition, or behind one that opens the clause.

    "Paid if the form is signed and the police were told": what is cut off a condition would be asserted. "But" turns to
    something else: "If it fails, a charge is added, but access is kept" would else be borne out by its charge alone.
    """
    if _CONDITION_OPENS.match(sentence, begin, end):
        turns = sentence[end : end + 1] == "," and _TURNS.match(sentence, right_start) is not None
        main = _MAIN.search(sentence, begin, end)
        second = _SECOND.match(sentence, right_start)
        is_same = main is not None and second is not None and main["word"].lower() == second["word"].lower()
        return not turns or is_same or marks.is_open(begin, end)
    return marks.is_open(begin, end)


def _awaits_main(sentence: str, begin: int, end: int) -> bool:
    """Say whether a stretch opens with a subordinate clause, or says so of what follows: "note that if it rains"."""
    return bool(_SUBORDINATE.match(sentence, begin, end) or _THAT_IF.search(sentence, begin, end))


def _list_end(sentence: str, later: Sequence[tuple[str, int, int]]) -> int:
    """Return where the list ends that a right side without a verb may begin: its verb stands before that.

    "Apples, pears and plums are free" is one subject. "Sign in, and then wait", "a bed, the operation is off" and what
    stands behind a colon or a "so" begin something else.
    """
    pending = None
    for kind, end, start in later:
        if kind == "comma":
            is_subject = _SUBJECT_WORD.match(sentence, start) is not None
            pending = end if is_subject and pending is None else pending
        elif kind == "soft" and _ITEM.match(sentence, start) and not _is_predicate(sentence, start):
            pending = None
        else:
            return end if pending is None else pending
    return len(sentence) if pending is None else pending


def _is_predicate(sentence: str, at: int) -> bool:
    """Say whether a finite verb stands right behind a conjunction: what follows has no subject of its own."""
    word = _ITEM.match(sentence, at)
    return word is not None and word["word"].lower() in FINITE_VERBS


def _goes_on(sentence: str, left_end: int, right: Sequence[Word]) -> bool:
    """Say whether the right side only adds to a measure or a quantity: "or more", "and a half", "all or some"."""
    opening = " ".join(word.text for word in right[:3])
    if _MEASURING.match(opening):
        return True
    left = _QUANTITY_BEFORE.search(sentence, max(0, left_end - _QUANTITY_CHARS), left_end)
    return left is not None and bool(_QUANTITY.match(opening))


_JOINING: Final = frozenset({"soft"})
_EVEN: Final = re.compile(r"\b(?:even|as)\s++though\b", re.IGNORECASE)
"""A subordinator of two words, no coordinator: "even though it rained"."""
_EVEN_CHARS: Final = len("even")
_THOUGH_CHARS: Final = len("though ")
_ANSWERS: Final = re.compile(r"(?:and|but)\s(?:yes|no),", re.IGNORECASE)
_OR: Final = re.compile(r"or\s", re.IGNORECASE)
_ITEM: Final = re.compile(
    rf"(?:and|or)\s++(?:(?:{'|'.join(sorted(_ADVERBS))})\s++)?(?P<word>[\w'\u2019]+)", re.IGNORECASE
)
_SUBJECT_WORD: Final = re.compile(rf"(?:{'|'.join(sorted(SUBJECT_OPENERS))})\b", re.IGNORECASE)
_CLAUSE_OPENERS: Final = "|".join(sorted(SUBORDINATORS - _AS_PRONOUNS - {"so", "why"}))
_SUBORDINATE: Final = re.compile(
    rf"(?:(?:and|but|or|so|yet)\s)?(?:even\s|only\s|just\s)?(?:{_CLAUSE_OPENERS}|(?:should|were|had)\s(?!not\b))\b",
    re.IGNORECASE,
)
_THAT_IF: Final = re.compile(
    r"\bthat\s(?:even\s)?(?:if|unless|when|once|because|although|though|until)\b", re.IGNORECASE
)
_CONDITION: Final = re.compile(
    r"\b(?:if|unless|provided(?: that)?|providing(?: that)?|as long as|on condition that|in case|except(?: if| when)?"
    r"|so long as|only when|only where|even when|even where|without)\b",
    re.IGNORECASE,
)
_CONDITION_OPENS: Final = re.compile(
    r"(?:(?:and|but|or)\s)?(?:even |only )?"
    r"(?:if|unless|when|where|once|provided|in case|except|apart from|subject to)\b",
    re.IGNORECASE,
)
_MAIN: Final = re.compile(r",\s(?P<word>\w+)")
"""Where the main clause behind a condition begins; its subject goes on: "you may swim, but you may not dive"."""
_SECOND: Final = re.compile(r"\w+\s(?P<word>\w+)")
_TURNS: Final = re.compile(r"(?:but|yet)\s(?!not\b|only\b|never\b|then\b)", re.IGNORECASE)
_PAUSE: Final = re.compile(r"[,;:]")
_BETWEEN: Final = re.compile(r"\bbetween\s(?:(?!\band\b)[^,;])+$", re.IGNORECASE)
_BETWEEN_CHARS: Final = 48
"""A range that is not yet closed: "between 07:00 and 20:00 are answered"."""
_MEASURING: Final = re.compile(
    r"(?:and |or )?(?:more|less|fewer|later|earlier|longer|shorter|above|below|over|older|younger|higher|lower|greater"
    r"|beyond|a half|half|a quarter|so|not)\b"
)
_QUANTITY: Final = re.compile(
    r"(?:and |or )?(?:all|some|none|any|one|most|few|little|both|part|more|several|many|no)\b"
)
_QUANTITY_BEFORE: Final = re.compile(
    r"\b(?:all|some|none|any|one|most|few|both|part|several|many|much|whole)$", re.IGNORECASE
)
_QUANTITY_CHARS: Final = 12


@dataclass(frozen=True, slots=True)
class _Words:
    """A sentence's words with their starts and the number of finite verbs before each: every look-up is short."""

    tokens: list[Word]
    starts: list[int]
    verbs_before: list[int]

    @classmethod
    def of(cls, sentence: str) -> "_Words":
        tokens = words(sentence)
        counts = [0]
        for at in range(len(tokens)):
            counts.append(counts[-1] + _is_verb(tokens, at))
        return cls(tokens, [word.start for word in tokens], counts)

    def stands_alone(self, begin: int, end: int, *, needs_verb: bool) -> bool:
        first, last = bisect_left(self.starts, begin), bisect_left(self.starts, end)
        has_verb = self.verbs_before[last] > self.verbs_before[first]
        return last - first >= _MIN_WORDS and (has_verb or not needs_verb)

    def awaits_verb(self, begin: int, end: int, *, either: bool) -> bool:
        """Say whether a subordinate clause before ``end`` has no verb yet: "when a parent | or guardian is there".

        Either of two may be what a preposition has with it, too: "until the doctor or the nurse comes".
        """
        first, last = bisect_left(self.starts, begin), bisect_left(self.starts, end)
        near = range(last - 1, max(first, last - _NOUN_REACH) - 1, -1)
        at = next((one for one in near if self.tokens[one].text in SUBORDINATORS), None)
        if at is None or self.verbs_before[last] > self.verbs_before[at + 1]:
            return False
        opener, subject = self.tokens[at].text, [word.text for word in self.tokens[at + 1 : last]]
        # What ends so behind another noun may be a verb that the lists do not know.
        if not subject or any(word.endswith(("s", "ed")) for word in subject[2:]):
            return False
        if opener in _AS_PREPOSITIONS:
            return either
        # "when due", "where possible" are whole as they stand.
        has_subject = subject[0] in SUBJECT_OPENERS or subject[0].endswith("s")
        return subject[0] in _ARTICLES or (has_subject and opener not in _AS_PRONOUNS)

    def main_follows(self, sentence: str, right: Sequence[Word], later: Sequence[tuple[str, int, int]]) -> bool:
        """Say whether a main clause stands behind what a right side opens with: "; after that, or if ill, you pay"."""
        opens = bool(right) and right[0].text in _PREPOSITIONS
        return opens and any(
            kind == "comma" and _SUBJECT_WORD.match(sentence, start) and self._verb_near(start)
            for kind, _, start in later
        )

    def _verb_near(self, begin: int) -> bool:
        first = bisect_left(self.starts, begin)
        last = min(first + _NOUN_REACH, len(self.tokens))
        return self.verbs_before[last] > self.verbs_before[first]

    def opens_subordinate(self, begin: int) -> bool:
        """Say whether the words from ``begin`` open with what a main clause follows: "When ...", "Founded in ..."."""
        first = bisect_left(self.starts, begin)
        word = self.tokens[first].text
        if word in _EXCEPTING or (word in FINITE_VERBS and word not in AUXILIARIES and not self._is_imperative(first)):
            return True  # "Held for three years, ...": a verb without a subject
        is_participle = (word.endswith("ed") and len(word) >= _MIN_PARTICIPLE) or (
            word.endswith("ing") and len(word) > _MIN_PARTICIPLE
        )
        return word in SUBORDINATORS or word in _PREPOSITIONS or is_participle

    def _is_imperative(self, at: int) -> bool:
        return self.tokens[at].text in IMPERATIVES

    def right_side(self, begin: int, following: int, beyond: int) -> list[Word]:
        """Return the words up to the next coordinator, or ``beyond`` it when there is no verb before it."""
        first, last = bisect_left(self.starts, begin), bisect_left(self.starts, following)
        reach = min(first + _SUBJECT_REACH + 1, bisect_left(self.starts, beyond))
        has_verb = self.verbs_before[min(last, reach, len(self.tokens))] > self.verbs_before[first]
        return self.tokens[first : min(last, reach) if has_verb else reach]


def _candidate_cuts(sentence: str) -> list[tuple[str, int, int]]:
    """Return (kind, end of the left side, start of the right side) at coordinators outside brackets and quotations."""
    depth, quoted, position = 0, False, 0
    cuts: list[tuple[str, int, int]] = []
    for match in _COORDINATOR.finditer(sentence):
        for char in sentence[position : match.start()]:
            depth += (char in _OPEN) - (char in _CLOSE and depth > 0)
            quoted ^= char == '"'
        position = match.start()
        if depth == 0 and not quoted:
            cuts.append((match.lastgroup or "", match.start(), match.end()))
    return cuts


def finite_verb_at(tokens: Sequence[Word]) -> int | None:
    """Return the place of the first finite verb among the words, or ``None``."""
    return next((at for at in range(len(tokens)) if _is_verb(tokens, at)), None)


def _has_verb(tokens: Sequence[Word]) -> bool:
    return any(_is_verb(tokens, at) for at in range(len(tokens)))


def _is_verb(tokens: Sequence[Word], at: int) -> bool:
    """Say whether a word is a finite verb: a marked form, or a base form after a plural."""
    word = tokens[at].text
    if word in FINITE_VERBS:
        # "A packed lunch", "the paid edition": between an article and its noun a word states nothing.
        if at == 0 or word in AUXILIARIES:
            return True
        before = tokens[at - 1].text
        # "For addresses", "100 requests of the quota": behind a preposition, and behind what counts it, it is a noun.
        is_noun = word.endswith("s") and (before in _PREPOSITIONS or (at == 1 and before.isdecimal()))
        is_last = word in _OBJECT_NEEDED and at == len(tokens) - 1 and before not in _NOMINATIVES
        return not (is_noun or is_last or before in _ARTICLES)
    follows = at > 0 and tokens[at].start - tokens[at - 1].end == 1
    return word in BASE_VERBS and follows and _is_plural(tokens[at - 1].text)


def _is_plural(word: str) -> bool:
    return word in {"they", "we", "you", "i", "people"} or (
        word.endswith("s") and not word.endswith(("ss", "us", "is"))
    )


def _is_clause(sentence: str, right: Sequence[Word], kind: str) -> bool:
    """Say whether the right side of a cut is a clause of its own."""
    if kind == "hard":
        opens = bool(right) and right[0].text in SUBJECT_OPENERS | BASE_VERBS | IMPERATIVES
        return len(right) >= _MIN_WORDS and (opens or _has_verb(_main(right)) or _opens_clause(sentence, right))
    if kind == "colon":
        return _opens_clause(sentence, right) or (_has_verb(_main(right)) and right[0].text in _PREPOSITIONS)
    if kind == "comma":
        first = right[0] if right else None
        is_strong = first is not None and (first.text in SUBJECT_OPENERS or _opens_firmly(sentence, right))
        return is_strong and _opens_clause(sentence, right)
    return _opens_clause(sentence, right)


def _opens_firmly(sentence: str, right: Sequence[Word]) -> bool:
    """Say whether a clause behind a mere comma opens with a name or with a noun right before its verb."""
    first, second = right[0], right[1] if len(right) > 1 else None
    return second is not None and (sentence[first.start].isupper() or second.text in FINITE_VERBS)


def _main(right: Sequence[Word]) -> list[Word]:
    """Return the words before the first relative or subordinate clause."""
    cut = next((at for at, word in enumerate(right) if at and word.text in SUBORDINATORS), len(right))
    return list(right[:cut])


def _opens_clause(sentence: str, right: Sequence[Word]) -> bool:
    """Say whether the words begin with a subject of their own that a finite verb follows."""
    tokens = list(right)
    while tokens and (tokens[0].text in _ADVERBS or _CONJUNCTION.match(sentence, tokens[0].start)):
        tokens = tokens[1:]
    whole, tokens = tokens, _main(tokens)
    if len(tokens) < len(whole) and _goes_on_behind_relative(whole, len(tokens)):
        return True
    return len(tokens) >= _MIN_WORDS and _opens_with_subject(sentence, tokens)


def _opens_with_subject(sentence: str, tokens: Sequence[Word]) -> bool:
    first = tokens[0]
    if first.text in CONTRACTED:
        return True
    is_denied = first.text == "not" and tokens[1].text not in _COUNTED  # "but not guaranteed"
    if is_denied or first.text in AUXILIARIES or first.text in _PREPOSITIONS or first.text in SUBORDINATORS:
        return False
    if first.text in _NOMINATIVES:
        return tokens[1].text not in _PREPOSITIONS
    if first.text in BASE_VERBS and tokens[1].text in _ARTICLES:
        return False  # "can watch it and take the needle out": a second verb of the same subject
    # "costs fell": a first word that could be a verb is the subject here, so the verb must come after it.
    could_be_verb = first.text in FINITE_VERBS
    is_noun = first.text.endswith("s") or not (could_be_verb or first.text.endswith(("ing", "ed", "ly")))
    is_subject = first.text in SUBJECT_OPENERS or sentence[first.start].isupper() or first.text[0].isdigit() or is_noun
    reach = _SUBJECT_REACH if first.text in SUBJECT_OPENERS else _NOUN_REACH
    return is_subject and any(_is_verb(tokens[:reach], at) for at in range(1, min(reach, len(tokens))))


def _goes_on_behind_relative(tokens: Sequence[Word], at: int) -> bool:
    """Say whether a relative clause ends, and its noun has a verb: "a guest who leaves before noon may return"."""
    first = tokens[0].text
    is_subject = first in _ARTICLES or (at == 1 and _is_plural(first))
    if not is_subject or at > _SHORT_SUBJECT or tokens[at].text not in _RELATIVES:
        return False
    end = next(
        (place for place in range(at + 1, len(tokens)) if tokens[place].text in SUBORDINATORS - _AS_PREPOSITIONS),
        len(tokens),
    )
    own = at + 1  # the verb of the relative clause, known or not; "which the guard may open" has a subject there
    if own >= end or tokens[own].text in SUBJECT_OPENERS:
        return False
    return any(
        tokens[place].text in _HEADS and (place - own > 1 or tokens[own].text not in AUXILIARIES)
        for place in range(own + 1, end)
    )


def _trimmed(sentence: str, left: int, right: int, offset: int) -> Span:
    conjunction = _CONJUNCTION.match(sentence, left) if left else None
    left = conjunction.end() if conjunction else left
    piece = sentence[left:right]
    stripped = piece.rstrip().rstrip(",;–—" if right == len(sentence) else ",:;–—").rstrip()  # noqa: RUF001 - dashes
    return Span(offset + left, offset + left + len(stripped))
