"""Words that query decomposition goes by (SPEC-003 §5.2 step 1.1, ADR 0062). English; others are left whole."""

import re
from typing import Final


def alternatives(words: str) -> str:
    """Return a regular expression for any of the words, longest first."""
    return "(?:" + "|".join(map(re.escape, sorted(words.split(), key=len, reverse=True))) + ")"


PLURALS: Final = frozenset(
    [
        "criteria",
        "data",
        "people",
        "children",
        "men",
        "women",
        "phenomena",
        "media",
        "feet",
        "teeth",
        "indices",
        "appendices",
    ]
)
POSSESSIVE: Final = re.compile(r"(?:my|our|your|his|her|its|their)\s+", re.IGNORECASE)
ORDINALS: Final = frozenset("first second third fourth fifth former latter old new current previous last next".split())  # noqa: SIM905
ARTICLE: Final = re.compile(r"(?:the|an?)\s+", re.IGNORECASE)
OWN_ARTICLE: Final = re.compile(r"(?:the|an?|my|our|your|his|her|their|any|all)\s", re.IGNORECASE)
QUESTION_WORDS: Final = "what which who whom whose where when why how"
AUXILIARIES: Final = (
    "is are was were do does did can could may might must shall should will would has have had isn't aren't don't "
    "doesn't didn't can't"
)
NO_NOUN_PHRASE: Final = frozenset(
    """only that this these those it its they them their then if when while so not has have had is are was were will
    would who which whose where or but in under for on at to of by with from as also both each other others etc vice
    should can could may must been be being nor than because although more less too""".split()  # noqa: SIM905
)
"""A part that begins with one of these is no need of its own."""

PREPOSITIONS: Final = (
    r"(?:with (?:regard|respect|reference) to|in terms of|in relation to|when it comes to|for|on|in|under|regarding|"
    r"concerning|about|at|during|within|across|against|as to|towards?|after|before|when|over|among|with|by|from|to)"
)
"""What may introduce the aspect of a comparison, and what may close a noun phrase. ``of`` is treated apart."""
PREPOSITION: Final = re.compile(rf"\s({PREPOSITIONS}|of)\s", re.IGNORECASE)
ASPECT_PREPOSITION: Final = re.compile(
    r"\s(with (?:regard|respect|reference) to|in terms of|as regards|in relation to|when it comes to|for|on|in|under|"
    r"regarding|concerning|about|at|during|within|across|as to|when|after|among|with)\s",
    re.IGNORECASE,
)
INTRODUCING: Final = re.compile(
    r"\s(?:with (?:regard|respect|reference) to|in terms of|as regards|in relation to|when it comes to|regarding|"
    r"concerning|as to)\s",
    re.IGNORECASE,
)
"""Prepositions that only introduce an aspect, wherever they stand."""
SHARED_PREPOSITIONS: Final = frozenset({"of", "in", "under", "at", "during", "within"})
"""A phrase with one of these, behind a last part with an article of its own, still belongs to all parts."""
OF_NOUNS: Final = frozenset(
    """number amount burden standard duty date place letter power terms code conflict length cost statement certificate
    proof right chain cause breach rate bill articles freedom rule point period line scope method type kind level degree
    change loss abuse return cash quality age time""".split()  # noqa: SIM905
)
"""Before ``of`` and a lower-case word without article these make one term: burden of proof."""
BODIES: Final = frozenset(
    """bank university court department ministry house republic kingdom city institute office board church state college
    school academy society association chamber council federation league""".split()  # noqa: SIM905
)
"""Before ``of`` and a name these make another name: Bank of England."""
EMPTY_NOUNS: Final = re.compile(
    r"\b(?:approach|rule|regulation|provision|position|requirement|law|stance|view|guidance|guideline|policy|policie|"
    r"perspective|treatment|handling|take|standard|opinion|regime|framework|statute|legislation)e?s?"
    r"\s(?:to|towards?|on|for|about|of|regarding|concerning|governing|in)\s",
    re.IGNORECASE,
)
"""``approaches to``, ``rules on``: what they introduce is the aspect."""
JUDGEMENT: Final = re.compile(
    r"\b(?:(?:better|best|more|less|most|least)\s(?:suited|suitable)(?:\s(?:to|for)(?=\s))?|"
    r"(?:more|less|most|least)\s(?!than\b)(?:\w+ly\s)?[\w-]+|more|less|better|worse|best|worst|"
    r"faster|slower|cheaper|dearer|safer|riskier|"
    r"stronger|weaker|higher|lower|larger|bigger|smaller|greater|longer|shorter|easier|harder|simpler|quicker|stricter|"
    r"looser|broader|wider|narrower|heavier|lighter|newer|older|earlier|later|fewer|cleaner|milder|tougher|superior|"
    r"preferable|suited|suitable)\b",
    re.IGNORECASE,
)

_FIXED_PAIRS: Final = """
    accident and emergency | accounts payable and receivable | acts and omissions | again and again | aid and abet |
    and others | and so forth | and so on | and the like | and/or | antigua and barbuda | arts and crafts | assault
    and battery | back and forth | backup and recovery | backup and restore | bed and breakfast | bid and ask | black
    and white | bonus and malus | bosnia and herzegovina | bread and butter | breaking and entering | bricks and
    mortar | buy and hold | buyer and seller | cash and cash equivalents | cease and desist | checks and balances |
    client and server | collateral and margin | command and control | compensation and benefits | continuous
    integration and delivery | copy and paste | cost and benefit | coughs and colds | cut and paste | cuts and bruises
    | day and night | debits and credits | debt and equity | development and operations | directors and officers |
    diversity and inclusion | do's and don'ts | dos and don'ts | drag and drop | due and payable | duties and
    responsibilities | ear nose and throat | ear, nose and throat | employer and employee | equality and diversity |
    ernst and young | errors and omissions | extract, transform and load | facts and figures | fair and reasonable |
    find and replace | first and foremost | fixtures and fittings | food and beverage | food and drink | food and drug
    | frequently asked questions and answers | fruit and vegetables | full and final | furniture and fittings |
    general and administrative | give and take | goods and services | governance, risk and compliance | hand, foot and
    mouth | health and safety | heart and lung | high and dry | hire and fire | hiring and firing | hue and cry |
    husband and wife | imports and exports | ins and outs | johnson and johnson | joint and several | just and
    equitable | landlord and tenant | law and order | life and limb | lost and found | marks and spencer | mean and
    variance | men and women | mergers and acquisitions | more and more | name and address | names and addresses |
    nature and extent | nausea and vomiting | night and weekend | null and void | nuts and bolts | obstetrics and
    gynaecology | oil and gas | open and shut | over and over | parent and child | part and parcel | pay and benefits
    | pick and place | plant and equipment | plug and play | policies and procedures | practices and procedures |
    procter and gamble | profit and loss | profits and losses | property and casualty | property, plant and equipment
    | pros and cons | publish and subscribe | questions and answers | read and write | reads and writes | request and
    response | research and development | rights and duties | rights and obligations | rights and remedies | rights
    and responsibilities | risk and compliance | roles and responsibilities | safe and sound | sales and marketing |
    salt and pepper | savings and loan | search and replace | securities and exchange | selling, general and
    administrative | sick and annual | signs and symptoms | sole and exclusive | standard and poor's | stock and bond
    | sum and substance | supply and demand | terms and conditions | test and development | time and attendance | time
    and effort | time and materials | touch and go | track and trace | trial and error | tried and tested | trinidad
    and tobago | true and fair | up and running | ups and downs | wages and salaries | ways and means | wear and tear
    | will and testament
"""
_PAIRS: Final = [" ".join(pair.split()) for pair in _FIXED_PAIRS.split("|")]
FIXED_PAIR: Final = re.compile(
    r"(?<![\w-])(?:" + "|".join(map(re.escape, sorted(_PAIRS, key=len, reverse=True))) + r")(?![\w-])", re.IGNORECASE
)
"""Terms and names of which "and" is a part."""
SAME_TWICE: Final = re.compile(r"(?<!\w)([A-Z]\w{1,40})\sand\s\1(?!\w)")

ASKING: Final = (
    "explain describe show tell give list outline summarise summarize find provide name state define detail discuss "
    "get present identify review clarify compile send"
)
PARTICLES: Final = frozenset(("up", "in", "out", "off", "on", "down", "over", "back", "away"))
"""With one of these a verb is two words: "back up"."""
ACTIONS: Final = frozenset(
    """accept access activate add adjust allocate amend analyse appeal apply appoint approve archive arrange assign
    attach authorise back block book borrow bring build buy calculate call cancel change charge check choose
    claim clean clear close collect compile complete configure confirm connect contact convert copy correct
    create deactivate declare decline defer delete deploy determine diagnose disable dispute distribute document
    download edit enable encrypt end enforce enrol ensure enter escalate establish estimate evaluate exchange
    export extend file fill find fix format generate get give handle hire identify implement import increase
    inform initiate insert inspect install invest invite invoice issue join keep launch lease lock log maintain
    make manage measure merge migrate modify monitor mount move notify obtain open order organise pass patch pay
    perform place plan post prepare prescribe prevent print process protect prove provide publish purchase query
    raise reach recognise reconcile record recover redeem reduce refund register reinstall reject release remove
    renew rent repair replace report request reschedule reset resolve restart restore restrict retrieve return
    review revoke roll rotate route run save scale schedule secure select sell send serve set settle share sign
    specify start stop store submit suspend switch take terminate test track train transfer treat trigger
    uninstall unlock update upgrade upload use validate value verify view withdraw write""".split()  # noqa: SIM905
)
"""Verbs that begin a need of their own after "How do I … and"."""
