"""Closed word lists that the rules of the stages read; English, lower case. They decide nothing themselves."""

from typing import Final


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOPWORDS: Final = _listed(
    """
    a about above after again all also am an and any are as at be because been before being below between both
    but by can could did do does doing down during each every few for from further had has have having he her
    here hers him his how i if in into is it its itself just me more most my of off on once only or other our
    ours out over own same shall she should so some such than that the their theirs them then there these they
    this those through to too under until up us very was we were what when where which while who whom why will
    with would you your yours may might must
    """
)
"""Words without content of their own: they do not count when texts are compared."""

NEGATORS: Final = _listed(
    """
    not no never none neither nor nobody nothing nowhere without cannot can't won't don't doesn't didn't isn't
    aren't unless wasn't weren't hasn't haven't hadn't shouldn't wouldn't couldn't mustn't needn't
    """
)
"""Words that turn a statement round."""

PREFIXED_BY_CHANCE: Final = _listed(
    """
    income inform information invest investment improve impress import important impart increase incite install
    instance insure intend intent invoice involve indeed infringe discharge discount discover dispose display
    distribute disclose disease mission mistake unit union universe unless until under unique address account about
    across assign await amount appoint approve apply arise around ashore aside avoid award along alike alive alone
    """
)
"""Words that begin like a negated word and are none."""

RESERVATIONS: Final = _listed(
    """
    may might likely unlikely probably possibly perhaps maybe potentially presumably suggests suggest suggested appears
    appear appeared seems seem seemed expected planned intends intended proposed alleged allegedly reportedly
    purportedly supposedly preliminary preliminarily tentative tentatively provisional provisionally estimated usually
    generally typically often sometimes mostly mainly normally frequently occasionally some most many few several
    selected partly partially according
    """
)
"""Words that leave room for doubt or for exceptions; a claim that drops them all says more than its source."""

CARRYING: Final = RESERVATIONS | _listed(
    """
    can could cannot plans proposal draft certain majority minority tends tend believed claims claimed said says argues
    argued opinion principle appearance rarely seldom almost nearly
    """
)
"""Words that carry a reservation of the source, or some of it."""

RESTRICTING_NOUNS: Final = (
    "consent|permission|approval|authori[sz]ation|agreement|prescription|supervision|guide|licen[cs]e|request|consultation"
    "|invitation|court order|warrant|guardian|proof|receipt|appointment"
)
"""What must be there before something is allowed: "with the written consent of"."""

STUDIED: Final = (
    "mice|rats|animals|rodents|dogs|monkeys|pigs|rabbits|vitro|cell cultures?|cells|healthy volunteers|adults|children"
    "|women|men|infants|pregnant women|older (?:adults|people|patients)|laboratory tests?|simulations?|a pilot"
)
"""What a result was found in; elsewhere it need not hold."""

HEDGES: Final = _listed(
    """
    about approximately around roughly nearly almost some circa perhaps maybe possibly probably likely generally
    typically usually often sometimes seems seem appears appear suggests may might could can various several
    many few certain
    """
)
"""Words that make a statement vaguer."""

APPROXIMATORS: Final = _listed(
    """
    about approximately around roughly nearly almost circa approx ~ some
    """
)
"""Words before a number that say it is rounded."""

SUBJECT_OPENERS: Final = _listed(
    """
    it they he she we you i this that these those there the a an its their his her our your my all each every
    both any some no another one such most many several few
    """
)
"""Words that can open the subject of a coordinated clause."""

AUXILIARIES: Final = _listed(
    """
    is are was were am be been has have had do does did will would can could shall should may might must cannot
    isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't can't couldn't
    shouldn't mustn't
    """
)
"""Finite auxiliaries."""

PREPOSITIONS: Final = _listed(
    """
    of in on at for with from to by under within about after before into against during between among towards via per
    """
)
"""Words before a noun phrase that say how it belongs to what stands before it."""

CONTRACTED: Final = _listed(
    """
    i'm you're he's she's it's we're they're that's there's i've you've we've they've i'd you'd he'd she'd we'd they'd
    i'll you'll he'll she'll it'll we'll they'll here's what's
    """
)
"""Subject and finite verb in one word."""

BASE_VERBS: Final = _listed(
    """
    accept wait achieve acquire act add address admit adopt affect agree aim allow amend announce appear apply
    appoint approve argue arise assess assign assume attach avoid award base bear belong benefit bill call
    cancel carry cause change charge cite claim classify close collect combine complete comply compute concern
    conclude conduct confirm connect consider consist consult contain continue contribute control convert
    cooperate cover create date deal decide declare decline decrease define delay deliver demand deny depend
    describe design detect determine develop differ direct disclose discover discuss display divide double drop
    earn elect eliminate employ enable encourage end enforce ensure enter equal establish estimate evaluate
    exceed exclude exempt exist expand expect expire explain express extend face fail fall file finish fix focus
    follow form found fund gain generate govern grant grow guarantee handle happen help hire host identify
    implement imply impose improve include increase indicate inform insure intend introduce invest involve issue
    join know label lapse last launch lead learn lie limit link list live locate look lower maintain make manage
    mandate mark match mean measure mention merge move name need note notify number obtain occur offer open
    operate order organise organize outline owe own participate pass pay permit place plan play possess predict
    prefer prepare present prevent process produce prohibit promise propose protect prove provide publish
    purchase qualify raise range rank reach receive recommend record reduce refer refund refuse register
    reimburse reject relate release rely remain remove renew repair replace report represent request require
    reserve resign respond restrict result retain return reveal review rise run save score seek select sell
    serve settle share show sign start state stay stop store submit suffer suggest supply support surge suspend
    take target tend terminate total track trade train transfer treat trigger turn use vary verify visit vote
    waive want warn weigh win withdraw work
    absorb accelerate accompany accuse acknowledge adapt adjust administer advise afford alter analyse analyze answer
    anticipate appeal arrange arrive assist attack attempt attend attract authorise authorize ban beat behave believe
    bind bite blend block boil borrow break breathe burn bury calm capture cast cease challenge chase clean clear climb
    combat commit communicate compare compensate compete complain confuse contact contract convince cook cool copy
    correct count crash cross cure damage decline decorate defend delete demonstrate depart deposit derive destroy
    deteriorate dig disagree disappear dismiss dispute dissolve distinguish distribute divert dominate draft drain dry
    eat edit educate embed emerge emit emphasise emphasize encounter encrypt engage enhance enjoy enrich equip escape
    evaporate evolve examine exchange execute exercise exhibit exploit export expose extract fade favour favor fear
    feature feed feel fight fit flee float flood flow fly fold forbid force forget freeze fuel fulfil fulfill function
    gather get give go guard guess guide hang harm hear heat hide hit hold hope hunt hurt ignore imagine imitate import
    impress improvise inflate influence inherit inhibit initiate inject injure inspect inspire install interact
    interfere interpret interrupt invade invent investigate invite irritate isolate jump justify keep kill lack land
    lay leak lean leave lend lift listen load lock lose love manufacture marry mature melt migrate mix modify motivate
    multiply narrow negotiate neglect nominate oblige observe occupy omit oppose orbit originate outperform overcome
    overlap overtake pack paint park perform persuade plant play pollinate popularise possess pour practise praise
    press pretend prick print proceed progress project promote pull pump punish push put quote react read realise
    realize rebuild recall recognise recognize recover recruit recycle reflect reform regret regulate reinforce relax
    relocate remember remind render rent repay reply rescue resemble resist resolve restart restore resume retire
    retreat reuse reverse reward ride rinse rotate ruin rule rush satisfy scan scatter schedule search secure seek seem
    seize send separate shake shape shine ship shoot shut signal simplify sing sink sit sleep slide slow smell smoke
    soften solve sort speak spill spin split spoil spread stage stand steal steep step stick stimulate strengthen
    stretch strike struggle study succeed sue surprise surround survive suspect swear swim switch talk taste teach tear
    tell test thank think threaten throw tie tolerate touch trace transform translate transmit transport travel trust
    try twist undergo understand unite update upgrade urge vanish view violate wake walk wash waste watch wear welcome
    wish withstand worry wrap write yield
    """
)

IRREGULAR_VERBS: Final = _listed(
    """
    became began begins bought brought built came chose cost costs cut cuts drew drove fell felt found gave gets
    gives goes got grew grows held kept knew knows led left lost lets made makes means meant met paid pays puts
    ran reads rose said saw says sees sent set sets sold sought spent spoke stood takes taught tells thinks took
    told understood went won wrote writes lies lay holds keeps falls comes brings builds buys chooses draws
    drives finds loses meets seeks sells sends spends stands teaches wins withdrew
    ate beat bit blew bled broke burnt caught dealt drank fed fled flew forbade forgot froze hid hung hurt laid learnt
    lent lit overcame overtook rang rode sang sank sat shook shone shot shrank shut slept slid spilt stole struck stuck
    swam swept swore taught threw tore undertook underwent upheld woke wore overturned
    """
)

SUBORDINATORS: Final = _listed(
    """
    if when whenever until till that which who whom whose because since unless although though while whereas where
    wherever once whether what how why as so before after
    """
)
"""Words that open a subordinate clause."""


IMPERATIVES: Final = _listed(
    """
    add allow apply ask attach avoid back bring build calculate call cancel check choose click close collect
    compare complete confirm configure consider consult contact copy create define deliver describe determine
    disable disconnect do document download enable ensure enter establish evaluate export fill find follow
    gather give go identify import include inform install keep leave list locate log look make mark monitor move
    navigate note notify obtain open pay photograph pick place prepare press print provide pull push put read
    record refer register remove repeat replace report request reset restart retain return review run save
    schedule scroll select send set sign start state stop store submit switch take tap tell test track turn type
    update upload use validate verify visit wait wear write
    """
)
"""Verbs that open an instruction."""

_JUDGEMENTS: Final = (
    "good|bad|great|excellent|poor|terrible|wonderful|amazing|awful|best|worst|better|worse|ideal|perfect|beautiful|ugly"
    "|impressive|interesting|attractive|generous|unfair|unreasonable|wise|unwise|sensible|advisable"
    "|worthwhile|promising|disappointing|exciting|fantastic|remarkable|useful|helpful|preferable"
    "|convenient|inconvenient|elegant|confusing|overpriced|overrated|underrated|outdated|worrying|alarming|reassuring"
    "|convincing|unconvincing|fascinating|boring|dull|pleasant|unpleasant|lovely|nice|ridiculous|absurd|brilliant|superb|outstanding|solid|fair|sound|reasonable|valuable|painful"
    "|mediocre|clumsy|awkward|annoying|frustrating|exhausting|tedious|delightful|charming|inspiring|admirable"
    "|shameful|questionable|dubious|spectacular|stunning|enjoyable|rewarding|tempting|troubling|unfortunate|sad"
    "|stressful|vague|harsh|lenient|smart|clever|stupid|foolish|bold|cautious|intuitive|user-friendly"
)
_GRADED: Final = "useful|helpful|simple|easy|hard|difficult|tricky|demanding|challenging"
_COMPARED: Final = (
    "easier|easiest|harder|hardest|nicer|nicest|lovelier|loveliest|fairer|fairest|wiser|wisest|smarter|smartest|prettier"
    "|prettiest|uglier|ugliest|finer|finest|friendlier|friendliest|smoother|cleaner|simpler|simplest"
)
_VERDICT_NOUNS: Final = (
    "disgrace|shame|pity|joke|bargain|masterpiece|triumph|disaster|mistake|nightmare|pleasure|delight|must-have"
    "|blessing|nuisance|good (?:idea|value|choice|option|buy|sign)|great (?:idea|value|choice|option|buy)"
    "|bad (?:idea|choice|sign)"
)
_DEGREE: Final = (
    "most|more|less|least|very|quite|rather|really|extremely|highly|so|too|pretty|fairly|particularly|surprisingly"
    "|remarkably|simply|truly|incredibly|unpleasantly"
)

OPINION_MARKERS: Final = (
    r"\b(?:I|we) (?:feel|find|would argue|prefer|like|love)\b",
    r"\bin my (?:humble )?(?:opinion|view|experience|eyes)\b|\bto my (?:ears?|eyes?|mind|taste)\b",
    rf"\b(?:arguably|hopefully)\b|\b(?:perhaps|probably) the [^.;]{{0,40}}\b(?:{_COMPARED}|best|worst)\b",
    rf"^sounds like (?:an? )?(?:{_JUDGEMENTS})\b",
    rf"\b(?:seems?|appears?|looks?|sounds?|feels?) (?:to be )?(?:(?:{_DEGREE}) )?(?:{_JUDGEMENTS})\b",
    rf"\b(?:{_DEGREE})\s+(?:{_JUDGEMENTS}|{_GRADED})\b",
    (
        rf"\b(?:is|are|was|were|remains?|makes?|be|been) (?:an? |the |another |such an? )?(?:(?:{_DEGREE}) )?"
        rf"(?:{_JUDGEMENTS}|{_COMPARED})\b(?! (?:faith|order|standing|practice)\b)"
    ),
    rf"\b(?:is|are|was|were|remains?|makes?|be) (?:an? |the |another )?(?:\w+ )?(?:{_VERDICT_NOUNS})\b",
    rf"\b(?:has|have|had|with) the (?:{_COMPARED}|best|worst)\b",
    rf"\b(?:is|are|was|were|'s) \w+ (?:{_COMPARED})\b|\b(?:{_COMPARED}) to\b|\b(?:more|most|less) (?:{_JUDGEMENTS})\b",
    (
        r"\b(?:consider|considers|considered|regard|regards|regarded|find|finds|call|calls|view|views)\b"
        rf"[^.;]{{2,60}}\b(?:{_JUDGEMENTS}|{_COMPARED})\b"
    ),
    r"\b(?:deserves?|ought to|worth (?:considering|reading|trying|noting the)|good value|worth it)\b",
    r"\b(?:well[ -](?:written|made|designed|done)|easy to (?:use|read|follow|understand|learn))\b",
)
"""Patterns of subjective evaluation.

Words that only comment on a statement or hedge it ("unfortunately", "perhaps", "I think") are none, nor are those that
documents have for facts ("dogs are welcome"): what they stand with is claimed.
"""
OWED: Final = (
    r"\b(?:balances?|amounts?|debts?|payments?|invoices?|fees?|loans?|rent|sums?|arrears|bills?|charges?|premiums?|dues"
    r"|instal?lments?|costs?|contributions?|fines?|orders?|claims?|requests?|tasks?|items?)\b[^.;,]{0,40}\boutstanding\b"
)
"""What is outstanding and no praise."""

_MENTIONED: Final = "mentioned|noted|stated|described|explained|discussed|outlined|said|shown"
_ANSWERED_VERBS: Final = "contain|mention|includ|specif|provid|stat|sa[yi]|cover|address|answer|information|enough"
_HELPING: Final = (
    "answer|help|assist|provide|find|determine|access|question|sorry|happy|information|know|confirm|say|tell|summari[sz]e|explain"
    "|list|describe"
)

SOURCE_NOUNS: Final = (
    r"(?:guide|policy|policies|leaflet|contract|agreement|terms|(?:terms and )?conditions|rules|brochure|booklet"
    r"|handbook|manual|summary|regulations?|documents?|documentation|notice|schedule|faq|instructions|guidelines)"
)
"""What the documents that were read are called."""
_FIGURES: Final = (
    r"(?:(?:the|your|all) )?(?:interest |exchange )?"
    r"(?:figures?|numbers?|balances?|rates?|prices?|amounts?|fees?|charges?)"
)
META_MARKERS: Final = (
    (rf"^(?:as|like) (?:i |we )?(?:have |was )?(?:{_MENTIONED})\b[^,:]{{0,60}}$"),
    r"^(?:here (?:is|are|'s)|below (?:is|are)|the following (?:list|table|section|points?|steps?))\b",
    # "The following are never reimbursed: gym fees" says something.
    r"^the following (?:is|are)(?=\s*[:.]?\s*$|\s(?:an?|the|some|my|our|your|what|how|all|key|main|steps?|points?)\b)",
    r"^(?:in (?:summary|short|conclusion)|to (?:summari[sz]e|sum up|conclude)|overall)[,:]?\s*$",
    r"\b(?:this|my) (?:answer|response|reply|summary|overview|explanation|list|table)\b",
    (
        r"\b(?:provided|given|supplied|available|above) (?:context|facts?|sources?|documents?|information|passages?)\b"
        rf".{{0,60}}\b(?:not|no|nothing|lacks?|n't)\b.{{0,40}}\b(?:{_ANSWERED_VERBS})"
    ),
    (
        r"\bi (?:can(?:not|'t)?|could(?:n't)?|do not|don't|am|have no|will|would|hope|apologi[sz]e|was)\b"
        rf".{{0,80}}\b(?:{_HELPING})"
    ),
    r"^(?:i'm|i am) (?:unable|not able|an ai)\b",
    r"^(?:i'm|i am) (?:sorry|happy|glad)\b(?!,? (?:but|that|to (?:say|tell|confirm|hear|learn|read)))",
    r"^(?:let me|let's|allow me)\b",
    (
        r"^(?:(?:for|if|should|in case)\b[^,]{0,60},\s)?(?:please )?(?:let me know|feel free to|please (?:ask|let)"
        r"|if you have (?:any )?(?:further|more|other) questions)\b"
    ),
    r"^(?:(?:great|good) question|thank you|thanks)\b[^,:!]{0,60}[,:!.]?\s*$",
    (
        r"^(?:all (?:of )?)?(?:this|that|these)(?: figures?| numbers?| amounts?)? (?:all )?"
        r"(?:assumes?|presupposes?) (?:that )?"
        rf"(?:nothing(?: else)? changes|{_FIGURES}(?: and {_FIGURES})? (?:(?:stay|remain)s? (?:the same|unchanged)"
        r"|(?:do not|don't|does not|doesn't) change))[.!]?\s*$"
    ),
    r"^(?:sure|certainly|of course|absolutely)\b[!,.]?\s*$",
    r"^(?:building on (?:this|that|the above)|continuing from|turning (?:now )?to|as (?:a )?follow-up)\b[^.]{0,60}$",
    r"^(?:sources?|references?|note|notes|citations?|key points?|summary|answer)\s*:?$",
    r"^(?:based on|from|according to) [^,]{3,80}, (?:here (?:is|are)|this is what)\b",
    (
        r"\b(?:the|your|these|those|this|my) (?:(?:provided|given|supplied|available|above|first|second|third|other"
        r"|cited|attached|retrieved) )?"
        r"(?:contexts?|sources?|documents?|records?|statements?|passages?|texts?|files?|logs?|excerpts?)"
        r" (?:(?:do|does|did)(?:n't| not)|lacks?|only|covers?|provided|given)\b"
    ),
    r"\b(?:come|comes|taken|quoted|drawn) from (?:the|my) (?:\w+ )?(?:sources?|documents?|context)\b",
    r"\b(?:see|refer to|shown in|listed in) the (?:table|list|section|figure|answer|notes?) (?:above|below)\b",
    r"\bmore on (?:this|that|these)\b|\b(?:next|following|previous|last) (?:section|part|answer|message|paragraph)\b",
    (
        r"^(?:that's (?:it|all)|hope (?:that|this)|have a (?:nice|great|good)|happy to|glad to|good luck"
        r"|you're welcome(?=\s*[!.,]|\s*$| to (?:ask|contact|write|reach|get in touch|come back))|hello|hi)\b"
    ),
    r"\b(?:this|the above) is (?:not|general information|no substitute|only (?:a|an|general))\b",
    # "Since you mentioned a dog, the flat is not for you" says something.
    (
        r"^(?:as |like |what )?(?:you|we) (?:asked|shared|pasted|uploaded|mentioned|requested|wanted to know)\b"
        r"[^,;:]{0,120}$"
    ),
)
"""Patterns of statements about the answer itself."""

COURTESIES: Final = (
    (
        r"^(?:that(?:'s| is) )?(?:an? )?(?:(?:very|really) )?(?:good|great|fair|excellent|interesting|tricky)"
        r" question[!.]?\s*$"
    ),
    r"^welcome(?: back)?(?: to (?-i:[A-Z])\w{1,30})?[!.]?\s*$",
    r"^(?:congratulations|congrats|well done)(?: to you)?[!.]?\s*$",
    r"^(?:(?:i'm|i am|we're|we are) )?(?:so |very )?sorry to (?:hear|learn|read) (?:about )?(?:that|this|it)[!.]?\s*$",
    (
        r"^(?:(?:safe|pleasant) (?:travels?|journey|trip|flight)|get well(?: soon)?|take care|don't (?:worry|panic)"
        r"|happy (?:(?:early|belated) )?(?:birthday|anniversary|holidays?|christmas|easter|new year))[!.]?\s*$"
    ),
    r"^enjoy (?:the|your) (?:day|evening|weekend|week|stay|trip|visit|holidays?|time)[!.]?\s*$",
)
"""Whole sentences that greet, thank, wish or comfort; none has room for a matter: "Enjoy your free breakfast!"."""

DISCOURSE_PREFIX: Final = (
    r"^(?:(?:in summary|in short|in conclusion|overall|however|moreover|furthermore|additionally|also|finally|therefore"
    r"|thus|hence|consequently|in addition|for example|for instance|in fact|specifically|note that|please note that"
    r"|based on (?:the|this) (?:provided |given |supplied )?(?:context|facts?|sources?|documents?|information)"
    r"|according to (?:the|this) (?:provided |given |supplied )?(?:context|facts?|sources?|documents?|information)"
    rf"|(?:as|like) (?:i |we )?(?:have |was )?(?:{_MENTIONED})(?: (?:above|before|earlier|already))?"
    r"|unfortunately|fortunately|regrettably|sadly|frankly|honestly|admittedly"
    r"|to summari[sz]e|first|second|third|next|then|importantly|notably)\s*[,:]\s*)+"
)
"""Introductory words that do not change what kind of claim follows."""

CONDITION_CUES: Final = (
    "only if",
    "only when",
    "provided that",
    "on condition that",
    "subject to",
    "pending",
    "unless",
    "except",
    "excluding",
    "conditionally",
    "provisionally",
    "conditional on",
    "as long as",
    "if",
    "until further notice",
    "in principle",
    "preliminary",
    "preliminarily",
    "tentatively",
    "temporarily",
)
"""Words that make a statement conditional; longest match first where one contains another."""

CONDITION_ADVERBS: Final = frozenset(cue for cue in CONDITION_CUES if cue.endswith("ly")) | {
    "in principle",
    "until further notice",
    "preliminary",
}
"""Those that stand beside what they limit and govern no words of their own."""


def _inflect(base: str) -> set[str]:
    if base.endswith("e"):
        return {base + "s", base + "d"}
    if base.endswith("y") and base[-2] not in "aeiou":
        return {base[:-1] + "ies", base[:-1] + "ied"}
    third = base + ("es" if base.endswith(("s", "x", "z", "ch", "sh")) else "s")
    return {third, base + "ed", base + base[-1] + "ed"}


FINITE_VERBS: Final = frozenset(
    AUXILIARIES | CONTRACTED | IRREGULAR_VERBS | {form for base in BASE_VERBS for form in _inflect(base)}
)
"""Forms that mark a finite clause; base forms are left out, for they are nouns as often as verbs."""
