"""Words of general English that say the same of anything, as one term; and words that say nothing by themselves.

A closed list for rules that ask whether two statements speak of the same thing: "the fee is", "it costs" and "one pays"
are one. Words of a field ("premium", "dose") are not in it: in another field they would tell two things apart.
"""

import re
from typing import Final

from services.common.reading.opposites import BEGIN, END
from services.common.reading.terms import terms

_FAMILIES: Final = (
    "build construct erect",
    "buy purchase",
    "sell",
    "cost price fee pay due expense",
    "hire recruit",
    "company firm enterprise",
    "storey floor",
    "doctor physician",
    "send ship",
    "admit admission",
    "use usage",
    "lose loss",
    "car automobile",
    "student",
    "pupil schoolchild",
    "flat apartment",
    "salary wage",
    "leave holiday vacation",
    "staff employee worker",
    "customer client",
    "lawyer attorney",
    "move relocate removal",
    "speed velocity",
    "average mean",
    "repair fix",
    "refuse decline",
    "accident crash",
    "picture photograph photo image",
    "large big",
    "quick fast rapid",
    "keep retain store",
    "train railway",
    "lead head chair preside president",
    "hand handover handing",
    "deliver delivery supply",
    "decide decision",
    "entitle entitlement right",
    "own owner belong",
    "weld welding",
    "read reading",
    "fire blaze",
    "ill sick",
    "weapon arm",
    "yearly annual",
    "trip journey",
    "cancel cancellation",
    "notify notification notice",
    "reply answer respond response",
    "error fault",
    "delete erase deletion",
    "let lease rent rental",
    "shut close",
    "win victory",
    "booking book reserve reservation",
    "parcel package",
    "raise increase rise growth grow",
    "lower reduce reduction decrease fall",
    "resit retake",
    "guest visitor visit",
    "produce output production",
    "teach teacher teaching",
    "bag baggage luggage",
    "child kid",
    "late delay",
    "housing casing case",
    "monthly month",
    "weekly week",
    "daily day",
)
_ADVERBS: Final = re.compile(
    r"\b(?:generally|largely|mostly|mainly|broadly|predominantly|exactly|precisely|currently|actually|usually|normally"
    r"|roughly|approximately|exclusively|solely|merely|just|only|also|still|already|always|ever|so far|now|overall)\b",
    re.IGNORECASE,
)
_LIGHT: Final = (
    "have provide contain comprise consist come get give make do become carry stand set put receive deliver"
    " offer need require prescribe demand allow permit entitle stay remain go call run least most exceed"
    " tolerate there each every one any all own reach take fix lie yet once away back out up down over via at"
    " in of alone themselves itself himself herself apply hold mr mrs ms miss dr begin start commence end"
    " expire finish keep use issue bring show accord according see cover nearly about around circa almost"
    " anyone anybody somebody someone bear borne"
)


def _table() -> dict[str, str]:
    found: dict[str, str] = {}
    for family in _FAMILIES:
        first, *others = family.split()
        base = _term(first)
        for word in (first, *others):
            found.setdefault(_term(word), base)
    return found


def _term(word: str) -> str:
    return next(iter(terms(word)), word)


_TABLE: Final = _table()
LIGHT: Final = terms(_LIGHT)
"""Terms that one of two statements may have more than the other and still speak of the same."""


def plain_terms(text: str) -> frozenset[str]:
    """Return the terms of a text, those of one family as one, without those that say nothing by themselves."""
    return frozenset(_TABLE.get(term, term) for term in terms(_ADVERBS.sub(" ", text)) - LIGHT)


KINDS: Final = frozenset(
    """
    tariff policy plan scheme package tablet capsule syrup cream spray drug medicine preparation course module seminar
    workshop model type series class router pump boiler vessel machine device appliance engine motor sensor printer
    scanner controller server client app application software program programme tool library system platform service
    product article brand label station plant mill farm wind park solar tower building house hall hotel museum library
    school university college hospital clinic ward shop store branch bank insurer company firm gmbh ltd ship ferry
    vacuum cleaner heat washing phone laptop tablet camera vehicle car bus train lorry aircraft bridge tunnel road
    street river lake mountain village town city municipality district province county state country region line
    route ticket voucher invoice contract agreement form document report study trial survey test project fund account
    loan card number standard directive regulation act law rule batch consignment shipment container pallet parcel
    unit flat plot room zone field lot pressure home energy
    """.split()  # noqa: SIM905 - a list would be several times as long
)
"""Words that say what kind of thing a name beside them is: "the Allnet S tariff" and "Allnet S" are one."""
_VERBS: Final = {
    "have": "hold holds held contain contains contained comprises carry carries keep keeps kept employ employs",
    "get": "receive receives received get gets got buy buys bought gain gains gained reach reaches reached",
    "give": "give gives gave deliver delivers delivered offer offers offered pay pays paid sell sells sold lend lends"
    " lent issue issues issued lose loses lost",
    "need": "need needs needed require requires required prescribe prescribes prescribed demand demands should",
    "use": "use uses consume consumes consumed charges run runs",
    "begin": BEGIN,
    "end": END,
    "up": "up",
    "down": "down",
    "in": "in",
    "out": "out",
    "on": "on",
    "off": "off",
}
VERBS: Final = {word: kind for kind, listed in _VERBS.items() for word in listed.split()}
"""What light words say after all: who has a thing does not need it, and who gets it does not give it."""
APART: Final = frozenset(
    frozenset(pair.split())
    for pair in (
        *("have get", "have need", "have use", "get give", "get need", "get use", "give need", "give use", "need use"),
        *("begin end", "up down", "in out", "on off"),
    )
)
"""Two that set statements apart where each has one of them alone."""
SPARE: Final = plain_terms(
    "dose torque capacity output yield rate speed charge last temperature weight length long height high width"
    " wide depth deep size volume area pressure power consumption value score mark figure quantity sum income"
    " revenue strength duration time period age distance surface seat energy substance extra type storey floor"
    " amount total number minimum maximum default date load usage count place per cent person people man woman"
    " maker holder report state work cause install responsible"
)
"""Words that one of two statements may have more, where the other has none of them: "tightened to 85 Nm", "a torque of
85 Nm". The two of "total length" and "clamp length" say two things."""
