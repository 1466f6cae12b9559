from services.common.grounding.statements import PIECE_WORDS, pieces, statement
from tests.each import each


@each(
    ("claim", "query", "text"),
    [
        ("Delhi is a city.", None, "Delhi is a city."),
        ("Delhi is a city.", "  ", "Delhi is a city."),
        ("Shakespeare", "Who wrote Hamlet?", "Shakespeare wrote Hamlet"),
        ("Shakespeare", "who wrote hamlet", "Shakespeare wrote hamlet"),
        ("Delhi", "The group has its head office in what city?", "The group has its head office in Delhi"),
        ("Delhi", "The film was made by whom?", "The film was made by Delhi"),
        ("Delhi", "What city has the head office?", "What city has the head office? Delhi"),
        ("1852", "When was it founded?", "When was it founded? 1852"),
        ("yes", "Is Delhi a city", "Is Delhi a city? yes"),
        ("Ann", "Who came first, Ann or Bob?", "Who came first, Ann or Bob? Ann"),
        ("Ann", "Who did Bob marry?", "Who did Bob marry? Ann"),
        ("Delhi is the capital of the whole Republic of India.", "What is Delhi?", None),
        ("It is the capital of the whole Republic of India.", "What is Delhi?", "What is Delhi? {}"),
        ("yes i like it", "I like football very much.", None),
        ("Delhi", "word " * 70, None),
        ("Delhi", "word " * 70 + ". Which city is it?", "Which city is it? Delhi"),
    ],
    ids=[
        "no question",
        "blank question",
        "who",
        "who without mark",
        "asked last",
        "asked last by whom",
        "which noun is not replaced",
        "when",
        "yes-no",
        "a choice is not replaced",
        "object of who is not replaced",
        "a sentence stands alone",
        "a pronoun needs the question",
        "a remark is no question",
        "too long to stand beside",
        "last sentence of a long question",
    ],
)
def test_how_a_claim_is_presented(claim, query, text):
    shown = statement(claim, query)
    assert shown.text == (claim if text is None else text.format(claim))
    assert shown.text[shown.claim_start : shown.claim_end] == claim


def test_a_short_claim_is_one_piece():
    assert pieces("One. Two.") == [(0, 9)]
    assert pieces("") == [(0, 0)]


def test_a_long_claim_is_cut_between_sentences_and_short_ones_stay_together():
    sentence = "Ten words make up this sentence which says nothing more."
    claim = " ".join([sentence] * 7)
    found = [claim[start:end] for start, end in pieces(claim)]
    assert found == [" ".join([sentence] * 3), " ".join([sentence] * 3), sentence]


def test_a_single_long_sentence_is_one_piece():
    claim = "a " * (PIECE_WORDS + 10) + "end."
    assert [claim[start:end] for start, end in pieces(claim)] == [claim]
