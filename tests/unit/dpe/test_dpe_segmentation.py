"""Stage 1: sentence boundaries, clauses, claim types, specificity, offsets (SPEC-005 §3)."""

import pytest

from services.common.reading.clauses import clauses
from services.common.reading.sentences import sentences
from services.common.reading.text_types import ClaimType, SentenceKind
from services.dpe.domain.claim_types import classify, specificity
from tests.each import each
from tests.fakes.dpe_world import analyse, app
from tests.speed import processor_time_below


@each(
    ("text", "expected"),
    [
        pytest.param("Dr. J. Smith left. He returned.", ["Dr. J. Smith left.", "He returned."], id="titles-initials"),
        pytest.param("It is 4.5 m. Good.", ["It is 4.5 m.", "Good."], id="decimals"),
        pytest.param(
            "See e.g. Art. 5 para. 2. Then stop.", ["See e.g. Art. 5 para. 2.", "Then stop."], id="abbreviations"
        ),
        pytest.param("It opens at 10 a.m. The end.", ["It opens at 10 a.m.", "The end."], id="abbreviation-that-ends"),
        pytest.param(
            '"Why?" he asked. "No!" Then he left.', ['"Why?" he asked.', '"No!"', "Then he left."], id="quotes"
        ),
        pytest.param("Paid. [1] Late. [2, 3]", ["Paid. [1]", "Late. [2, 3]"], id="citation-marks"),
        pytest.param("Card policy, 2. Limits by grade: Director", None, id="number-of-a-section"),
        pytest.param(
            "The lines are 5, 7. Tickets cost 3.", ["The lines are 5, 7.", "Tickets cost 3."], id="listed-numbers"
        ),
        pytest.param("Wait... Then go.", ["Wait...", "Then go."], id="ellipsis"),
        pytest.param("A line that is long enough to be wrapped by\nits writer goes on.", None, id="soft-wrap"),
        pytest.param("Name: Foo\nDate: today", ["Name: Foo", "Date: today"], id="short-lines"),
        pytest.param("- one thing\n- another", ["one thing", "another"], id="list"),
        pytest.param("## A heading\nText here.", ["A heading", "Text here."], id="heading"),
        pytest.param("a\n\nb", ["a", "b"], id="blank-line"),
        pytest.param(
            "\u7b2c\u4e00\u3002\u7b2c\u4e8c\u3002", ["\u7b2c\u4e00\u3002", "\u7b2c\u4e8c\u3002"], id="full-width"
        ),
        pytest.param(" \n\t ... !? ", [], id="no-words"),
        pytest.param("", [], id="empty"),
    ],
)
def test_boundaries(text, expected):
    found = [text[sentence.start : sentence.end] for sentence in sentences(text)]
    assert found == ([text] if expected is None else expected)


def test_kinds():
    text = "# Head\n| a | 1 |\n|---|---|\n```\nx = f(1);\nThe fee is 5 euros.\n```\n1. item\nProse"
    kinds = [(sentence.kind, text[sentence.start : sentence.end]) for sentence in sentences(text)]
    assert kinds == [
        (SentenceKind.HEADING, "Head"),
        (SentenceKind.TABLE_ROW, "| a | 1 |"),
        (SentenceKind.CODE, "x = f(1);"),
        (SentenceKind.PROSE, "The fee is 5 euros."),
        (SentenceKind.LIST_ITEM, "item"),
        (SentenceKind.PROSE, "Prose"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fire and theft are covered.", ["Fire and theft are covered."]),
        ("It rose to 5 and then fell.", ["It rose to 5 and then fell."]),
        ("It covers fire; theft; floods.", ["It covers fire; theft; floods."]),
        ("The insurer pays; the member waits.", ["The insurer pays", "the member waits."]),
        ("The limit (and the fee is 5) applies.", ["The limit (and the fee is 5) applies."]),
        ('He said "it is true and it is good" and he left.', ['He said "it is true and it is good"', "he left."]),
        ("Costs rose while sales fell, but profit grew.", ["Costs rose", "sales fell", "profit grew."]),
        ("Apart from dogs that are trained and are led, no pets are let in.", None),
        ("Held for its full three years, a grant is worth 9,000 euros.", None),
        ("A batch uses one request of the limit and 100 requests of the quota.", None),
        ("Members may store data, and even they only for addresses of their own.", None),
        ("A nurse can watch the drip and take the needle out, but is not allowed to put it in.", None),
        ("Members pay 10 euros and 12 guests pay nothing.", ["Members pay 10 euros", "12 guests pay nothing."]),
        ("Article 4 applies and article 5 requires a form.", ["Article 4 applies", "article 5 requires a form."]),
        (
            "If a payment fails, a charge is added, but you keep your access.",
            ["If a payment fails, a charge is added", "you keep your access."],
        ),
        ("If a payment fails, a charge is added and you lose your access.", None),
        ("If the form is signed, but the police were not told, nothing is paid.", None),
        ("If it rains, the game is off, but not before noon.", None),
        ("If you are under 18, you may swim, but you may not dive.", None),
        ("The fee is 5 euros and the term is two years.", ["The fee is 5 euros", "the term is two years."]),
        ("Children are welcome when a parent or guardian is with them.", None),
        ("All of this assumes that the balance and the rates stay the same.", None),
        ("The rules apply as before and members pay 5 euros.", ["The rules apply as before", "members pay 5 euros."]),
        ("It is open until noon and the entry is free.", ["It is open until noon", "the entry is free."]),
        ("It stays open until the doctor or the nurse comes.", None),
        ("You pay when due and the deposit is returned.", ["You pay when due", "the deposit is returned."]),
        ("Guests pay for that course and members pay 5.", ["Guests pay for that course", "members pay 5."]),
        ("This applies however much or little the trip costs.", None),
        ("The fee is due even though the course was cancelled.", None),
        ("The leg is short, so even though both take long, you would fly economy.", None),
        ("It is open, and even if it rains, the pool is free.", None),
        ("The deposit is returned so long as the flat is clean.", None),
        ("Should you be late, the fee is 5 euros.", None),
        ("Members should pay 5, guests should pay 9.", ["Members should pay 5", "guests should pay 9."]),
        ("Please note that if the bike was outside, it must have been locked.", None),
        ("It is possible, but not guaranteed.", None),
        ("It is possible, but not all members pay.", ["It is possible", "not all members pay."]),
        ("It covers fire or a power cut.", None),
        ("The roof fell and a power failure cut the line.", ["The roof fell", "a power failure cut the line."]),
        ("You may book it and reclaim the cost.", None),
        ("She shows a card and sign in, and then gets a badge.", None),
        ("The fee is 5 and apples, pears and plums are free.", ["The fee is 5", "apples, pears and plums are free."]),
        ("The fee is 5, and the rest, in most cases, is 9.", ["The fee is 5", "the rest, in most cases, is 9."]),
        (
            "A change is free until noon; after that, or if nobody is in, we charge 30 euros.",
            ["A change is free until noon", "after that, or if nobody is in, we charge 30 euros."],
        ),
        ("It covers fire; for members, theft too.", None),
    ],
    ids=[
        "nouns",
        "shared-subject",
        "list",
        "semicolon",
        "brackets",
        "quotation",
        "three",
        "exception-first",
        "participle-first",
        "counted-noun",
        "noun-behind-a-preposition",
        "second-verb",
        "counted-subject",
        "label",
        "but-behind-a-condition",
        "and-behind-a-condition",
        "but-within-a-condition",
        "but-not",
        "but-of-the-same-subject",
        "two-clauses",
        "two-subjects-behind-when",
        "two-subjects-behind-that",
        "as-before",
        "until-noon",
        "until-either",
        "when-due",
        "pointing-that",
        "much-or-little",
        "even-though",
        "so-even-though",
        "even-if",
        "so-long-as",
        "inverted-condition",
        "should-of-a-duty",
        "that-if",
        "but-not-alone",
        "but-not-all",
        "noun-at-the-end",
        "verb-with-an-object",
        "verb-with-an-article",
        "and-then",
        "list-as-subject",
        "inserted",
        "main-clause-behind-a-comma",
        "list-with-a-date",
    ],
)
def test_clauses(text, expected):
    assert [text[span.start : span.end] for span in clauses(text, 0, len(text))] == (expected or [text])


@pytest.mark.parametrize(
    ("text", "has_values", "expected"),
    [
        ("Arguably the fee is 5 euros.", True, ClaimType.FACTUAL),
        ("As mentioned above, the fee is 5 euros.", True, ClaimType.FACTUAL),
        ("Arguably the fee is too high.", False, ClaimType.OPINION),
        ("Submit the form within 5 days.", True, ClaimType.PROCEDURAL),
        ("I cannot answer this question.", False, ClaimType.META),
        ("However, the fee is due.", False, ClaimType.FACTUAL),
        ("Unfortunately, members cannot bring guests.", False, ClaimType.FACTUAL),
        ("Perhaps members may bring guests.", False, ClaimType.FACTUAL),
        ("I think members may bring guests.", False, ClaimType.FACTUAL),
        ("I think it is a great gym.", False, ClaimType.OPINION),
        ("As noted, members may bring guests.", False, ClaimType.FACTUAL),
        ("As noted above.", False, ClaimType.META),
        ("Great question, members may not freeze their membership.", False, ClaimType.FACTUAL),
        ("I'm afraid members cannot freeze their membership.", False, ClaimType.FACTUAL),
        ("I'm happy to say that members can freeze it.", False, ClaimType.FACTUAL),
        ("I'm sorry, but dogs are banned.", False, ClaimType.FACTUAL),
        ("I'm happy to help!", False, ClaimType.META),
        ("Thanks for your question!", False, ClaimType.META),
        ("We recommend that children swim alone.", False, ClaimType.PROCEDURAL),
        ("Sure, members may bring guests.", False, ClaimType.FACTUAL),
        ("Dogs are welcome in every room.", False, ClaimType.FACTUAL),
        ("You keep your access while the balance is outstanding.", False, ClaimType.FACTUAL),
        ("The food is outstanding.", False, ClaimType.OPINION),
        ("Members may bring guests, let me know if you need more.", False, ClaimType.FACTUAL),
        ("Wear and tear is not covered.", False, ClaimType.FACTUAL),
        ("The following points matter:", False, ClaimType.META),
        ("The following are:", False, ClaimType.META),
        ("The following is a summary of the terms.", False, ClaimType.META),
        ("The following are never reimbursed: gym fees", False, ClaimType.FACTUAL),
        ("Welcome back!", False, ClaimType.META),
        ("Welcome drinks are free.", False, ClaimType.FACTUAL),
        ("Congratulations!", False, ClaimType.META),
        ("Congratulations on your covered flood damage!", False, ClaimType.FACTUAL),
        ("Welcome to Bielefeld!", False, ClaimType.META),
        ("Welcome to the gym where towels are included!", False, ClaimType.PROCEDURAL),
        ("Fair question!", False, ClaimType.META),
        ("I'm sorry to hear that.", False, ClaimType.META),
        ("Sorry to hear about that!", False, ClaimType.META),
        ("Sorry to hear that flood damage has been paid in full!", False, ClaimType.FACTUAL),
        ("I'm sorry to hear that flood damage has been paid in full!", False, ClaimType.FACTUAL),
        ("Sorry to hear that, but the fee stays.", False, ClaimType.FACTUAL),
        ("Enjoy your stay!", False, ClaimType.META),
        ("Enjoy your included cleaning!", False, ClaimType.PROCEDURAL),
        ("Enjoy your complimentary breakfast!", False, ClaimType.PROCEDURAL),
        ("Enjoy free access to the pool!", False, ClaimType.PROCEDURAL),
        ("Don't worry.", False, ClaimType.META),
        ("Don't worry, the fee is refunded.", False, ClaimType.FACTUAL),
        ("Sounds like a nice event!", False, ClaimType.OPINION),
        ("All of this assumes that the rates stay the same.", False, ClaimType.META),
        ("This assumes that nothing else changes.", False, ClaimType.META),
        ("That assumes the sauna is open on Mondays, which it is.", False, ClaimType.FACTUAL),
        ("This assumes nothing beyond the rule that flood damage is covered.", False, ClaimType.FACTUAL),
        ("This assumes the rates stay the same, and dogs are allowed.", False, ClaimType.FACTUAL),
        ("This assumes a rate of 5 %.", True, ClaimType.FACTUAL),
        ("The contract assumes that members pay.", False, ClaimType.FACTUAL),
        ("The guide doesn't say how many payments are possible.", False, ClaimType.FACTUAL),
        ("The policy does not specify what the excess is.", False, ClaimType.FACTUAL),
        ("The rules do not say when the sauna is closed.", False, ClaimType.FACTUAL),
        ("The guide does not mention anything against smoking in the flat.", False, ClaimType.FACTUAL),
        ("The documents do not mention anything against smoking.", False, ClaimType.FACTUAL),
        ("The documents do not mention smoking.", False, ClaimType.META),
        ("The documents don't say where to book, so you may want to ask the desk.", False, ClaimType.META),
        ("The documents do not say, so please contact us.", False, ClaimType.META),
        ("The documents do not mention dogs, cats or birds.", False, ClaimType.META),
        (
            "The documents do not say what happens then, so please contact us because flood damage is paid in full.",
            False,
            ClaimType.FACTUAL,
        ),
        (
            "The documents do not say whether pets may be kept, so please contact the landlord who must allow pets.",
            False,
            ClaimType.FACTUAL,
        ),
        ("The documents do not say, so please contact the landlord who must allow pets.", False, ClaimType.FACTUAL),
        ("The documents do not say if pets are kept, and pets may be kept.", False, ClaimType.FACTUAL),
        ("The documents do not say how pets must be kept because pets are allowed.", False, ClaimType.FACTUAL),
        ("The policy doesn't say who pays, so you need not pay.", False, ClaimType.FACTUAL),
        ("The documents don't mention a limit, so you can claim any amount.", False, ClaimType.FACTUAL),
        ("The policy doesn't cover floods.", False, ClaimType.FACTUAL),
        ("The rules do not mention dogs.", False, ClaimType.FACTUAL),
    ],
)
def test_types(text, has_values, expected):
    assert classify(text, has_values=has_values, kind=SentenceKind.PROSE) is expected


@pytest.mark.parametrize(
    ("text", "values", "names", "expected"),
    [
        ("It holds.", 0, 0, 0.0),
        ("X", 0, 1, 0.3),
        ("X", 1, 0, 0.4),
        ("X", 1, 1, 0.58),
        ("about probably X", 1, 1, 0.3712),
    ],
)
def test_specificity_is_the_published_formula(text, values, names, expected):
    assert specificity(text, values, names) == expected


async def test_claims_have_exact_offsets_and_entities():
    answer = "# Title\n\nJane Doe paid €500 on 1 March 2024, and NIST agreed."
    claims = (await app().segment(answer)).claims
    assert [claim.claim_id for claim in claims] == ["c1", "c2"]
    assert all(answer[claim.start : claim.end] == claim.text for claim in claims)
    assert [(str(entity.kind), entity.text) for entity in claims[0].entities] == [
        ("PERSON", "Jane Doe"),
        ("MONEY", "€500"),
        ("DATE", "1 March 2024"),
    ]
    assert all(answer[entity.start : entity.end] == entity.text for claim in claims for entity in claim.entities)
    assert [claim.specificity for claim in claims] == [0.748, 0.3]


async def test_one_batch_of_names_and_one_of_vectors():
    provenance = app()
    await analyse("The fee is 5 euros. It is due.", "The fee is 5 euros.", using=provenance)
    assert len(provenance._models.entity_recognizer.calls) == 1
    assert len(provenance._models.embedding.calls) == 1


@pytest.mark.timed
@pytest.mark.tenth
@pytest.mark.parametrize(
    "piece",
    [
        "a. ",
        "Dr. ",
        "five-",
        "one ",
        "1/",
        "[1,",
        "(ab ",
        "http://",
        "5 to ",
        "\u202e\x00\x07 ",
        "| ",
        "> ",
        "and it is ",
        "not ",
    ],
)
async def test_hostile_text_takes_linear_time(piece):
    provenance = app()
    with processor_time_below(20):
        await provenance.segment(piece * (50_000 // len(piece)))


@each(
    ("answer", "claims"),
    [
        ("Yes. Permits cost £4 at the desk.", ["Yes.", "Permits cost £4 at the desk."]),
        ("No, permits are not issued to lorries.", ["permits are not issued to lorries."]),
        ("Yes. A fee for two permits is due.", ["A fee for two permits is due."]),
        ("A fee is due. No, it isn't. It is £4.", ["A fee is due.", "It is £4."]),
        ("Yes; the fee is £4 and the deposit is £9.", ["the fee is £4", "the deposit is £9."]),
        ("Yes, if the seal is whole.", ["Yes, if the seal is whole."]),
        ("Yes.", ["Yes."]),
        ("Yes. Let me know if you need more help!", ["Yes.", "Let me know if you need more help!"]),
    ],
)
async def test_the_word_that_answers_is_claimed_only_where_nothing_else_is(answer, claims):
    found = (await analyse(answer, query="My aunt pays. Is a fee due for two?")).analysis.outputs.text.claims
    assert [claim.text for claim in found] == claims
    assert [answer[claim.start : claim.end] for claim in found] == claims
    assert [claim.claim_id for claim in found] == [f"c{at}" for at in range(1, len(claims) + 1)]


@each(
    ("answer", "types"),
    [
        (
            "There are two exceptions:\n\n- Dogs are let in. They wait.\n- Cats are let in.",
            "META FACTUAL FACTUAL FACTUAL",
        ),
        ("There are three exceptions:\n\n- Dogs are let in.\n- Cats are let in.", "FACTUAL FACTUAL FACTUAL"),
        ("There are two free rooms:\n\n- Room A is upstairs.\n- Room B is downstairs.", "FACTUAL FACTUAL FACTUAL"),
    ],
)
async def test_what_only_counts_the_items_that_follow_claims_nothing(answer, types):
    claims = (await app().segment(answer)).claims
    assert " ".join(str(claim.claim_type) for claim in claims) == types


async def test_what_an_answer_says_of_the_askers_case_is_claimed_and_what_comments_is_not_in_it():
    query = "I lost the receipt for a £62 meal. May I use the form?"
    found = (await analyse("Unfortunately the form has a limit. Your meal was £62.", query=query)).analysis
    claims = found.outputs.text.claims
    assert [claim.text for claim in claims] == ["the form has a limit.", "Your meal was £62."]
    assert [claim.claim_type for claim in claims] == [ClaimType.FACTUAL, ClaimType.FACTUAL]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("If my dog is allowed, can I bring it to the pool?", "Your dog is allowed."),
        ("If my cleaning is included, when does it take place?", "Your cleaning is included."),
        ("If I pay no deposit, when do I pay?", "You pay no deposit."),
        ("I paid £80 for the train and £30 for the taxi. What is refunded?", "You paid £80 for the taxi."),
    ],
)
async def test_a_case_that_was_told_makes_no_statement_a_remark(query, answer):
    claims = (await analyse(answer, query=query)).analysis.outputs.text.claims
    assert [claim.claim_type for claim in claims] == [ClaimType.FACTUAL]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        (
            "No to the cleaning, yes to pets. Cleaning is not included. Pets must not be kept.",
            ["No to the cleaning, yes to pets.", "Cleaning is not included.", "Pets must not be kept."],
        ),
        (
            "No to both. Cleaning is not included. Pets must not be kept.",
            ["Cleaning is not included.", "Pets must not be kept."],
        ),
    ],
)
async def test_an_answering_word_with_a_matter_of_its_own_is_claimed(answer, claims):
    found = (await analyse(answer, query="Is cleaning included and may pets be kept?")).analysis.outputs.text.claims
    assert [claim.text for claim in found] == claims


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        (
            "- Taxi fares: reimbursed\n- Gym fees: never reimbursed",
            ["Taxi fares: reimbursed", "Gym fees: never reimbursed"],
        ),
        ("* **Gym fees:** reimbursed", ["**Gym fees:** reimbursed"]),
        ("* Germany: €140 per night\n* Oman: €90 per night", ["Germany: €140 per night", "Oman: €90 per night"]),
        # "Purchases" is no verb: the items say nothing without their lead.
        ("This is reimbursed:\n- gym fees\n- bar purchases", ["This is reimbursed:\n- gym fees\n- bar purchases"]),
        ("It opens early.\n- gym fees\n- Lockers:", ["It opens early."]),
    ],
)
async def test_items_of_a_list_are_claimed_with_what_they_say_or_with_their_lead(answer, claims):
    done = await analyse(answer, "Taxi fares are reimbursed.")
    assert [claim.text for claim in done.analysis.outputs.text.claims] == claims
