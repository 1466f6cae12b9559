"""Negation put in or taken out: by auxiliaries, ``never``, ``no``, ``without`` and prefixes; contractions keep it."""

import random
import re
from collections.abc import Iterator
from typing import Final

from training.contrasts.change import Change, Edit, Scene, cased, single, with_article

_AUXILIARY: Final = "is|are|was|were|will|would|should|must|does|do|did|can|could|has|have|had"
_NEGATIVE: Final = re.compile(r"\b(?:not|n't|never|no|none|nobody|nothing|neither|nor|without|cannot)\b", re.IGNORECASE)
_POSITIVE: Final = re.compile(
    rf"\b({_AUXILIARY}) ((?!not\b|never\b|no\b|n't|also\b|only\b|all\b|both\b|just\b|now\b|more\b|either\b)[a-z]+)\b"
)
_QUESTION: Final = re.compile(r"\?\s*$")
_PERFECT: Final = frozenset({"has", "have", "had"})
_PARTICIPLE: Final = re.compile(
    r"(?:\w+(?:ed|en|wn|nt|ght)|been|become|made|had|done|gone|won|led|held|sold|told|come|left|met|built|set|put|run)$"
)
_DO: Final = frozenset({"do", "does", "did"})
_NEGATED: Final = re.compile(
    r"\b(is|are|was|were|will|would|should|must|could|has been|have been|had been) (not|never) ([a-z]+)\b"
)
_CONTRACTED: Final = re.compile(r"\b(is|are|was|were|would|should|could|does|do|did|has|have|had)n['’]t ([a-z]+)\b")  # noqa: RUF001
_CANNOT: Final = re.compile(r"\b(?:cannot|can['’]t|can not) ([a-z]+)\b")  # noqa: RUF001 - typographic apostrophe
_DID_NOT: Final = re.compile(r"\b(did|does|do) not ([a-z]+)\b")
_SUBJECT: Final = re.compile(
    r"(?:\b(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Ww]e|[Ww]ho)|^(?:[A-Z][\w'-]+ ){1,3}[A-Z][\w'-]+) ([a-z]+)\b"
)
_ARTICLE: Final = re.compile(r"\b(has|have|had|with|there is|there was|There is|There was) (an?) (?=[a-z])")
_WITHOUT: Final = re.compile(r"\bwithout (?=(?:a|an|any|the|his|her|their|its)\b)")
_PAST: Final = dict(
    pair.split(":")
    for pair in """won:win made:make took:take became:become began:begin came:come gave:give went:go had:have held:hold
    kept:keep knew:know led:lead left:leave lost:lose met:meet paid:pay ran:run said:say saw:see sold:sell sent:send
    spent:spend stood:stand taught:teach told:tell thought:think wrote:write grew:grow fell:fall found:find got:get
    built:build bought:buy brought:bring chose:choose died:die directed:direct played:play starred:star served:serve
    received:receive released:release published:publish moved:move worked:work lived:live joined:join signed:sign
    appeared:appear attended:attend produced:produce recorded:record created:create founded:found announced:announce
    reported:report started:start opened:open closed:close returned:return married:marry helped:help used:use
    reached:reach scored:score finished:finish agreed:agree decided:decide called:call asked:ask confirmed:confirm
    contains:contain includes:include requires:require allows:allow provides:provide shows:show plays:play causes:cause
    makes:make takes:take has:have stars:star lives:live works:work means:mean supports:support uses:use""".split()  # noqa: SIM905
)
_PRESENT: Final = frozenset(word for word, base in _PAST.items() if word.endswith("s") and word.startswith(base[:2]))
_PREFIXED: Final = {
    positive: negative
    for pair in """able:unable aware:unaware likely:unlikely successful:unsuccessful usual:unusual
    common:uncommon clear:unclear safe:unsafe fair:unfair happy:unhappy healthy:unhealthy
    possible:impossible legal:illegal complete:incomplete correct:incorrect dependent:independent direct:indirect
    effective:ineffective accurate:inaccurate sufficient:insufficient visible:invisible important:unimportant
    reliable:unreliable available:unavailable necessary:unnecessary popular:unpopular official:unofficial
    related:unrelated expected:unexpected limited:unlimited married:unmarried armed:unarmed released:unreleased
    finished:unfinished published:unpublished significant:insignificant regular:irregular relevant:irrelevant""".split()  # noqa: SIM905
    for positive, negative in (tuple(pair.split(":")), tuple(reversed(pair.split(":"))))
}
_PREFIXABLE: Final = re.compile(
    rf"(?<![\w-])({'|'.join(sorted(_PREFIXED, key=len, reverse=True))})(?![\w-])", re.IGNORECASE
)
_NOT_PREFIXED_AFTER: Final = re.compile(r"\b(?:was|were|is|are|be|been|had|has|have|and|he|she|it|they)\s$")
_VERBLIKE: Final = frozenset(
    {"released", "published", "finished", "limited", "related", "expected", "married", "known"}
)
_PLAIN: Final = re.compile(r"\b(is|are|was|were|would|should|could|does|do|did|has|have|had) not(?= [a-z])")
_SHORT: Final = re.compile(r"\b(is|are|was|were|would|should|could|does|do|did|has|have|had)n['’]t(?= [a-z])")  # noqa: RUF001


def inserted(text: str, _scene: Scene, choice: random.Random) -> Iterator[Change]:
    """``is`` to ``is not``, ``won`` to ``did not win`` or ``never won``, ``has a`` to ``has no``."""
    if _NEGATIVE.search(text) or _QUESTION.search(text):
        return  # a second negation may undo the first
    kind = "negation.inserted"
    for match in _POSITIVE.finditer(text):
        auxiliary, word = match.groups()
        if auxiliary in _DO or (auxiliary in _PERFECT and not _PARTICIPLE.match(word)):
            continue
        never = choice.random() < 0.3 and word not in {"a", "an", "the"}  # noqa: PLR2004 - "not" is the usual one
        new = f"cannot {word}" if auxiliary == "can" else f"{auxiliary} {'never' if never else 'not'} {word}"
        yield single(kind, Edit(*match.span(), new))
    for match in _SUBJECT.finditer(text):
        verb = match.group(1)
        if verb in _PAST:
            helper = "does" if verb in _PRESENT or verb == "has" else "did"
            new = choice.choice((f"{helper} not {_PAST[verb]}", f"never {verb}"))
            yield single(kind, Edit(*match.span(1), new))
    for match in _ARTICLE.finditer(text):
        word = match.group(1)
        new = "without" if word == "with" else f"{word} no"
        end = match.end() - 1 if word != "with" else match.end(1)
        yield single(kind, Edit(match.start(), end, new))


def removed(text: str, _scene: Scene, _choice: random.Random) -> Iterator[Change]:
    """``is not`` to ``is``, ``cannot`` to ``can``, ``did not`` to ``did``, ``without`` to ``with``."""
    kind = "negation.removed"
    for match in _NEGATED.finditer(text):
        yield single(kind, Edit(*match.span(), f"{match.group(1)} {match.group(3)}"))
    for pattern in (_CONTRACTED, _DID_NOT):
        for match in pattern.finditer(text):
            yield single(kind, Edit(*match.span(), f"{match.group(1)} {match.group(2)}"))
    for match in _CANNOT.finditer(text):
        yield single(kind, Edit(*match.span(), f"can {match.group(1)}"))
    for match in _WITHOUT.finditer(text):
        yield single(kind, Edit(match.start(), match.start() + len("without"), "with"))


def prefixed(text: str, _scene: Scene, _choice: random.Random) -> Iterator[Change]:
    """``able`` to ``unable``, ``unlikely`` to ``likely``; not where a participle is the verb of its clause."""
    for match in _PREFIXABLE.finditer(text):
        word = match.group()
        if word.lower() in _VERBLIKE and (_NOT_PREFIXED_AFTER.search(text[: match.start()]) or match.start() == 0):
            continue
        new = cased(_PREFIXED[word.lower()], word)
        yield single("negation.prefix", with_article(text, *match.span(), new))


def contracted(text: str, _scene: Scene, _choice: random.Random) -> Iterator[Change]:
    """``is not`` as ``isn't`` and the other way round."""
    for match in _PLAIN.finditer(text):
        yield single("negation.contracted", Edit(*match.span(), f"{match.group(1)}n't"), keeps=True, back=True)
    for match in _SHORT.finditer(text):
        yield single("negation.contracted", Edit(*match.span(), f"{match.group(1)} not"), keeps=True, back=True)
