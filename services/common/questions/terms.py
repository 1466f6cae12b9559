"""The words of a question or an answer that carry content, brought to one form.

Endings are cut as keyword search cuts them; irregular forms and a few pairs of everyday words that mean the same in a
question ("car" and "vehicle", "quit" and "end") meet in one stem. The list holds no words of one subject.
"""

import re
from functools import lru_cache
from typing import Final

from services.common.keywords import Stemming, keywords

_WORD: Final = re.compile(r"[^\W_]+(?:[.,'\u2019-][^\W_]+)*")
_REMEMBERED: Final = 16_384
_LONG: Final = 7


def listed(text: str) -> frozenset[str]:
    """Return the words of a list that is written with blanks."""
    return frozenset(text.split())


STOP_WORDS: Final = listed(
    """
    take takes took taken a about above after again all already also always am an and another any anyone anything
    are as at be because been before being below between both but by can cannot could did do does doing done down
    during each either else ever every everyone few for from further get gets got had happen happened happens has
    have having he hence her here hers herself him himself his how however i if in instead into is it its itself
    just let like long many may maybe me might mine more most much must my myself no nor not now of off often on
    once one ones only or other our ours out over own per perhaps please quite rather same shall she should since
    so some soon still such than that the their theirs them themselves then there these they this those though
    through thus to today too under until up upon us very was we well were what whatever when where whether which
    while who whom whose why will with within without would yes yet you your yours fast quickly quick early late
    far high big large low little exactly currently current normally usually generally describe explain list name
    tell know say says said give gives given mean means meant needed need needs want wants way ways case cases
    thing things kind kinds sort type provided according regarding concerning apply applies don't doesn't didn't
    isn't aren't wasn't weren't what's who's where's when's how's it's there's that's i'm we're
    """
)
"""Words that a question has whatever it asks about."""

MEASURES: Final = listed(
    """
    sum sums amount amounts number numbers percentage percentages percent share rate rates date dates day days
    time times period periods deadline deadlines limit limits year years month months week weeks hour hours minute
    minutes quarter person people name names place places reason reasons maximum minimum most least size value
    length duration term frequency figure figures total extent level
    """
)
"""Nouns that say what kind of answer is asked for and not what about: an answer need not repeat them."""

_ALIKE: Final = (
    "keep kept retain retains retained retention store stored storage",
    "pay pays paid payment payments payable",
    "car cars vehicle vehicles automobile automobiles auto",
    "begin begins began begun start starts started commence commences",
    "end ends ended expire expires expired terminate terminated termination finish finished",
    "buy buys bought purchase purchased purchases",
    "sell sells sold sale",
    "lead leads led head heads headed run runs",
    "founded founder establish established",
    "increase increases increased raise raises raised rise rises rose risen",
    "lower lowers lowered reduce reduces reduced reduction reductions decrease decreases decreased shorten shortened",
    "allow allows allowed permit permits permitted permission",
    "answer answers answered reply replies replied respond responds responded response",
    "send sends sent",
    "tell tells told inform informs informed notify notifies notified",
    "give gives gave given",
    "choose chooses chose chosen choice",
    "get receive receives received",
    "bring brings brought",
    "write writes wrote written",
    "lose loses lost loss losses",
    "steal steals stole stolen theft thefts",
    "injure injures injured injury injuries hurt",
    "ill illness illnesses sick sickness disease diseases",
    "die dies died death deaths dead",
    "doctor doctors physician physicians",
    "house houses home homes flat apartment",
    "phone telephone telephones phones",
    "mail email e-mail",
    "luggage baggage",
    "boss manager managers",
    "staff employee employees worker workers personnel",
    "customer customers client clients",
    "appoint appointed appointment",
    "cost costs price prices",
    "cover covers covered coverage insured insure insures",
    "approve approves approved approval consent",
    "decide decides decided decision decisions",
    "late later delay delays delayed overdue",
    "destroy destroys destroyed delete deletes deleted erase erases erased erasure deletion",
    "withdraw withdraws withdrew withdrawn withdrawal",
    "restore restores restored restoration",
    "stop stops stopped suspend suspends suspended suspension",
    "refuse refuses refused refusal reject rejects rejected rejection",
    "wait waits waited waiting",
    "child children kid kids son sons daughter daughters",
    "hold holds held",
    "meet meets met meeting meetings",
    "examine examines examined examination inspect inspects inspected inspection",
    "renew renews renewed renewal",
    "hospital hospitals",
    "age ages aged old older oldest born birth",
    "replace replaces replaced succeed succeeds succeeded successor",
    "work works worked",
    "abroad overseas foreign",
    "trip trips journey journeys travel travels travelled traveling travelling",
    "cancel cancels cancelled canceled cancellation",
    "vaccination vaccinations vaccine vaccines vaccinated jab jabs",
    "burglary burglaries burglar burglars burgled robbery robberies",
    "guest guests visitor visitors",
    "repair repairs repaired fix fixes fixed fixing mend mends mended",
    "broken broke breaks defect defects defective fault faults faulty",
    "holiday holidays vacation vacations",
    "salary salaries wage wages earn earns earned earnings",
    "fine fines penalty penalties",
    "rent rents rented rental hire hires hired lease leases leased",
    "forbid forbids forbidden prohibit prohibited ban banned",
    "complain complains complained complaint complaints",
    "contact contacts contacted",
    "elevator elevators lift lifts",
    "pet pets animal animals",
    "dog dogs puppy puppies",
    "cat cats kitten kittens",
    "bicycle bicycles bike bikes",
    "parcel parcels package packages shipment shipments",
    "medicine medicines medication medications drug drugs pill pills",
    "neighbour neighbours neighbor neighbors",
    "extra additional additionally surcharge surcharges supplement supplements",
    "instalment instalments installment installments",
    "accident accidents crash crashes crashed collision collisions",
    "empty unoccupied vacant",
    "jewellery jewelry valuables",
    "press journalist journalists media",
    "annual annually yearly",
    "help helps helped assist assists assisted assistance",
    "speak speaks spoke spoken talk talks talked",
    "require requires required requirement requirements mandatory compulsory obligatory",
    "lend lends lent loan loans borrow borrows borrowed",
    "therapy therapist therapists psychotherapy psychotherapist psychotherapists",
    "heat heats heated heating heater radiator radiators",
    "pregnant pregnancy maternity",
    "marry marries married marrying marriage wedding weddings",
    "refund refunds refunded reimburse reimburses reimbursed reimbursement",
    "chair chairs chairman chairwoman chairperson",
    "husband wife spouse spouses",
    "cheap cheaper discount discounts rebate rebates",
    "colour colours color colors",
    "metre metres meter meters",
    "kilometre kilometres kilometer kilometers",
    "licence licences license licenses",
)
"""Words of everyday questions that ask for the same; each group is one stem."""


@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """Return the form in which a word is compared."""
    bare = word.lower().replace("\u2019", "'").removesuffix("'s").removesuffix("'")
    return _ONE_STEM.get(bare) or _stemmed(bare)


def _stemmed(word: str) -> str:
    if word[:1].isdigit():
        return word
    if word.endswith(("ment", "ments")) and len(word) > _LONG:  # "settlement" and "settle"
        word = word.removesuffix("s").removesuffix("ment")
    found = keywords(word, Stemming.ENGLISH)
    return "-".join(found)


def terms(text: str) -> tuple[str, ...]:
    """Return the stems of the content words of a text, in order, repeated as they stand."""
    return tuple(
        stem(word) for word in plain_words(text) if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())
    )


def plain_words(text: str) -> list[str]:
    """Return the words of a text in lower case; a compound with hyphens counts as its parts."""
    found: list[str] = []
    for match in _WORD.finditer(text):
        word = match.group().lower().replace("\u2019", "'")
        found += word.split("-") if "-" in word and not word[0].isdigit() else [word]
    return found


def _groups() -> dict[str, str]:
    return {word: group.split()[0] for group in _ALIKE for word in group.split()}


_ONE_STEM: Final = _groups()
