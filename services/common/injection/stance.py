"""Whether words are meant or mentioned: an order to the reader, or a report, a quotation, a line of code about one.

Books on security, manuals, test data and tickets quote the very words of attacks. A match that is mentioned keeps
``MENTIONED`` of its weight: it is still told of, and blocks nothing. Each look goes a bounded way to either side.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from services.common.injection.rule_set import Voice

MEANT: Final = 1.0
QUOTED: Final = 0.7
"""Within quotation marks, and nothing says why."""
ALONE: Final = 0.4
"""Words of everyday letters and laws, and nothing near speaks of a model or asks it for something."""
MENTIONED: Final = 0.3
_BEFORE_CHARS: Final = 160
_INTRODUCED_CHARS: Final = 900
_MOSTLY: Final = 0.6

_ENCLOSED: Final = re.compile(
    r"(?P<fence>```[^`]{0,20000}```|~~~[^~]{0,20000}~~~|<(?P<tag>pre|code)\b[^<>]{0,200}>[^<]{0,4000})"
    r"|(?P<code>`[^`\n]{1,400}`)"
    r'|"[^"\n]{2,600}"|\u201c[^\u201d\n]{2,600}\u201d|\u00ab[^\u00bb\n]{2,600}\u00bb|\u201e[^\u201c\u201d\n]{2,600}[\u201c\u201d]'
    r"|&(?:quot|ldquo|#34);[^&\n]{2,600}&(?:quot|rdquo|#34);"
    r"|(?<!\w)'[^'\n]{2,300}'(?!\w)|(?<!\w)\u2018[^\u2019\n]{2,300}\u2019"
)
_SENTENCE_START: Final = re.compile(r"[.!?;\n\"\u201c(\u2022|\u2014]|:\s|\s-+\s|,\s(?:and|then|so)\s")
_REPORT: Final = re.compile(
    r"(?:"
    r"\b(?:to|that|which|who|would|could|might|may|can|cannot|did|does|do|never|not|n't|without|by|of|from|how|"
    r"attempts?|tr(?:y|ies)|trying|they|people|he|she|it|we|i|users?|attackers?|hackers?|someone|anyone|cannot|"
    r"drivers?|parents|companies|models?|often|sometimes|usually|always|is|are|was|were|about|for|on|in|why|when|if)"
    r"(?:\s+(?:[a-z]+ly|even|also|just|simply|then|either))?\s*$"
    r"|\b(?:should|must|will|shall)\s+(?:not|never)\s+(?:[a-z]+\s+)?$"
    r"|\b(?:how|why|when|whether|what happens|what if)\s+(?:\w+\s+){0,4}$"
    r")"
)
_ORDER: Final = re.compile(
    r"(?:"
    r"\b(?:you|your\s+(?:\w+\s+)?(?:task|job|goal|mission|duty|role|objective|purpose|option|choice|way)(?:\s+now)?\s+is)"
    r"\s+(?:\w+\s+){0,2}(?:to|must|should|will|shall|can|may|need\s+to|have\s+to|are\s+to|ought\s+to|could|would)"
    r"(?:\s+(?:now|please|just|also|immediately|completely|then|simply))*\s*$"
    r"|\b(?:assistant|ai|model|chatbot|bot|llm|gpt|claude|agent)\s+(?:\w+\s+){0,2}(?:must|should|shall|needs?\s+to|has\s+to|is\s+to)"
    r"(?:\s+(?:now|please|just|also|immediately|completely|then|simply))*\s*$"
    r"|\b(?:want|need|ask|asking|like|order|command|instruct|tell|require|beg|allow|authori[sz]e|permit)(?:ed|ing)?\s+"
    r"you\s+to\s+(?:\w+\s+)?$"
    r"|\b(?:can|could|will|would|please|kindly|now|then|just|and|also|so|first|next|or|immediately|instead|must|"
    r"should|let'?s|lets)\s+(?:you\s+)?(?:please\s+|now\s+|just\s+|kindly\s+|also\s+)?$"
    r"|\b(?:important|necessary|crucial|vital|required|time|free|able|allowed|safe|okay|ok|permitted|best)\s+to\s+$"
    r")"
)
_OTHERS: Final = re.compile(
    r"^(?:(?:the|each|every|any|all|both|our|an?)\s+(?:[\w'-]+\s+){1,6}?|(?:[a-z]{3,}s|staff|personnel)\s+)"
    r"(?:shall|must|should|may|will|can|(?:is|are|has|have|needs?)\s+to)\s+(?:not\s+|then\s+|also\s+|\w+ly\s+)?$"
)
"""Somebody shall do it, and is told of: the arbitrator, each bidder, drivers."""
_MACHINES: Final = re.compile(
    r"\b(?:ai|llm|gpt|claude|(?:model|assistant|(?:chat)?bot|agent|system|machine|reader|reviewer|grader|rater|evaluator|"
    r"screener|summari[sz]er|parser|pipeline|processor|program|software|tool|engine|api|recipient|persona|character|"
    r"answer|respon[sd]\w*|repl(?:y|ie)|output|text|summar(?:y|ie)|instance|user)s?|automat\w*|process\w*|you\w*)\b"
)
"""Who may be a model: what they must do is an order to it."""
_ASKS_HOW: Final = re.compile(
    r"^\W{0,3}(?:how\s+(?:can|do|does|to|would|could|should)|why|what\s+(?:if|happens))\b|\b(?:prevent|protect|defend|detect)(?:s|ing|ed)?\b"
)
_NEGATED: Final = re.compile(
    r"(?:n't|\b(?:not|never|cannot|without|refuses?|declines?|avoid|instead\s+of|rather\s+than|no\s+(?:one|user)\s+"
    r"(?:can|may|should)))\s+(?:to\s+)?(?:you\s+)?(?:\w+ly\s+)?(?:ever\s+)?$|\b(?:do|does|should|must|will|can|shall)(?:n't|\s+not|\s+never)\s+"
    r"(?:\w+\s+){0,2}$"
)
_TALKS_OF_WORDS: Final = re.compile(
    r"\b(?:phrases?|strings?|sentences?|words?|texts?|inputs?|payloads?|examples?|messages?|prompts?|commands?|wording|"
    r"quotes?|lines?|titles?|variants?|patterns?|queries|query|request)\s*(?:like|such\s+as|is|was|are|reads?|says?|of|"
    r"called|named|containing|contains?|with|e\.g\.,?|for\s+(?:example|instance),?)*\s*[:,\-]?\s*[\"'\u201c\u2018`(]*$"
    r"|\b(?:such\s+as|for\s+example|for\s+instance|e\.g\.|i\.e\.|known\s+as|so-called|means?|says?|said|wrote|writes?|"
    r"read|reads|typed?|enters?|translate|spell|define|called|titled|entitled)\s*[:,]?\s*[\"'\u201c\u2018`(]*$"
)
_DISCUSSES: Final = re.compile(
    r"\b(?:attack(?:s|er|ers|ed|ing)?|injections?|jailbreaks?|jailbreaking|malicious|adversar(?:y|ial|ies)|exploits?|"
    r"vulnerabilit(?:y|ies)|defen[cs]es?|defend(?:ing|s)?|mitigat\w{1,6}|detect\w{0,5}|prevent\w{0,5}|filter(?:s|ed|ing)?|"
    r"saniti[sz]\w{1,6}|owasp|red[- ]team\w{0,4}|classif\w{1,7}|guardrails?|flag(?:s|ged)?|false\s+positives?|"
    r"benchmark|test\s+cases?|phishing|xss|csrf|payloads?|security|scanner|blocklist|deny\s?list|rejects?|refuses?|"
    r"examples?|phrases?|wording|translate|translation|grammar|means|meaning|quote[sd]?|slogan|lyrics?|novel|"
    r"character|says|said|regex|unit\s+tests?|assert|fixture|traversal|spoof\w{0,4}|untrusted|threat|suspicious)\b"
)
_JUDGES: Final = re.compile(
    r"\b(?:assessment|make\s+of|interpret|attempts?|attack|jailbreak|injection|(?:respond|response|react|reply)\s+to|think\s+(?:of|about)|"
    r"means?|meaning|classify|classified|intent|sentiment|label|safe|malicious|harmful|flag|detect|examples?|opinion|analy[sz]e|"
    r"analysis|evaluate|consider|translate|define|explain|spell|rewrite|paraphrase)\b[^:\n]{0,60}:\s*$"
)
_LIST_LINE: Final = re.compile(r"\s{0,12}(?:[-*+\u2022>|]|\d{1,3}[.)]|[a-z][.)])\s")
_CODE_LINE: Final = re.compile(
    r"^\s*(?:(?:def|class|return|import|from|assert|if|elif|for|const|let|var|function|public|private|static|func|fn)\b.*"
    r"[({:;=]|[\w.\[\]]{1,80}\s*(?:=|\+=|:=|=>)\s|[\w.]{1,80}\(|\{|\}|[\"'][^\"'\n]{1,400}[\"']\s*[,:)\]]|[\"']?\w{1,40}[\"']?\s*:\s*[\"'])"
)


@dataclass(slots=True)
class _Enclosed:
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    codes: list[bool] = field(default_factory=list)


class Surroundings:
    """What stands around the matches of one text; what is dear is looked for once, and only when there is a match."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _enclosed(self) -> _Enclosed:
        found = _Enclosed()
        for one in _ENCLOSED.finditer(self._text):
            found.starts.append(one.start())
            found.ends.append(one.end())
            found.codes.append(bool(one["fence"] or one["code"]))
        return found

    def share(self, start: int, end: int) -> float:
        """Return how much of its weight a match keeps for where it stands in the original."""
        place = self._around(start, end)
        if place is not None:
            return self._share_enclosed(*place)
        if self._is_listed(start) or self._is_code(start):
            return MENTIONED
        before = self._sentence_before(start)
        if _JUDGES.search(before):
            return MENTIONED
        if _TALKS_OF_WORDS.search(before) and _DISCUSSES.search(self._text[max(0, start - 400) : end + 200].lower()):
            return MENTIONED
        return MEANT

    def _around(self, start: int, end: int) -> tuple[int, int, bool] | None:
        found = self._enclosed
        at = bisect_right(found.starts, start) - 1
        if at < 0 or found.ends[at] < min(end, start + 1) or found.starts[at] == start:
            return None
        return found.starts[at], found.ends[at], found.codes[at]

    def _share_enclosed(self, start: int, end: int, code: bool) -> float:
        whole = len(self._text.strip())
        if end - start >= _MOSTLY * whole:
            return MEANT
        if code or self._is_listed(start) or self._is_code(start):
            return MENTIONED
        around = self._text[max(0, start - 300) : start] + " \n " + self._text[end : end + 200]
        return MENTIONED if _DISCUSSES.search(around.lower()) else QUOTED

    def _sentence_before(self, start: int) -> str:
        before = self._text[max(0, start - _BEFORE_CHARS) : start].lower()
        return before[before.rfind("\n") + 1 :]

    def _is_listed(self, start: int) -> bool:
        """Return whether a list or a table that is introduced as one of attacks or of wordings holds the match."""
        above = self._text[max(0, start - _INTRODUCED_CHARS) : start]
        lines = above.split("\n")
        if len(lines) == 1 or not _LIST_LINE.match(lines[-1] + " x"):
            return False
        intro = next((line for line in reversed(lines[:-1]) if line.strip() and not _LIST_LINE.match(line)), "")
        return bool(_DISCUSSES.search(intro.lower()))

    def _is_code(self, start: int) -> bool:
        """Return whether the line is one of a program and the match stands in a string of it."""
        line = self._text[self._text.rfind("\n", max(0, start - 400), start) + 1 : start]
        return bool(_CODE_LINE.match(line)) and (line.count('"') % 2 == 1 or line.count("'") % 2 == 1)


def voice_share(text: str, start: int, voice: Voice) -> float:
    """Return how much of its weight a match keeps for how its words are meant, from what stands before it."""
    if voice is Voice.ANY:
        return MEANT
    before = text[max(0, start - _BEFORE_CHARS) : start]
    cut = max((found.end() for found in _SENTENCE_START.finditer(before)), default=0)
    clause = before[cut:].lstrip()
    if _NEGATED.search(before):
        return MENTIONED
    if _ASKS_HOW.search(clause):
        return MENTIONED
    if _OTHERS.search(clause) and not _MACHINES.search(clause):
        return MENTIONED
    if not clause or _ORDER.search(before):
        return MEANT
    return MENTIONED if _REPORT.search(clause) else MEANT
