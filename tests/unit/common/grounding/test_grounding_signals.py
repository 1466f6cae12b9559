import numpy as np
import pytest

from services.common.grounding.passage_index import PassageIndex
from services.common.grounding.signals import SIGNALS, signals

SOURCE = (
    "Ada Lovelace, born in London on 10 December 1815, wrote notes on the engine in 1843. "
    "Charles Babbage designed the engine. He spent $5 million on it. "
    "The museum in Paris never showed it. Rain fell. Snow fell. Hail fell. All visitors liked the garden."
)


def of(name, claim, query=None, passages=(SOURCE,)):
    return float(signals(PassageIndex(passages), claim, query)[SIGNALS.index(name)])


@pytest.mark.parametrize(
    ("name", "faithful", "unfaithful"),
    [
        ("token_recall", "Ada wrote notes", "Ada wrote sonnets"),
        ("idf_recall", "Ada wrote notes", "Ada wrote sonnets"),
        ("character_recall", "Ada Lovelace", "Grace Hopper"),
        ("bigram_recall", "wrote notes on the engine", "notes the engine wrote on"),
        ("longest_run", "wrote notes on the engine", "notes the engine wrote on"),
        ("sentence_recall", "Babbage designed the engine", "Babbage showed the museum"),
        ("weakest_sentence_recall", "Rain fell. Snow fell.", "Rain fell. Ada sang arias."),
        ("window_recall", "Babbage designed it and spent millions", "Ada liked Paris"),
        ("anchors_together", "Charles designed the engine, Babbage said", "The garden of Ada liked Babbage"),
        ("answer_recall", "Babbage", "Turing"),
    ],
)
def test_support_is_higher_for_what_the_source_says(name, faithful, unfaithful):
    query = "Who designed the engine?" if name == "answer_recall" else None
    assert of(name, faithful, query) > of(name, unfaithful, query)


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("pairs_apart", "Babbage liked museums and Ada fell", "Babbage designed the engine"),
        ("novel_numbers", "She wrote them in 1844", "She wrote them in 1843"),
        ("novel_numbers", "He spent $6 million", "He spent 5,000,000 dollars"),
        ("numbers_elsewhere", "Visitors liked the garden, Charles designed it in 1843", "Ada wrote notes in 1843"),
        ("unit_mismatch", "He spent 1843 dollars", "He spent 5 million dollars"),
        ("novel_days", "Born on 11 December 1815", "Born on December 10, 1815"),
        ("novel_names", "The engine of Turing", "The engine of Babbage"),
        ("many_novel_names", "The engine of Turing", "The engine of Babbage"),
        (
            "names_elsewhere",
            "All visitors liked the garden, Charles designed it for Ada",
            "The notes of Ada on the engine",
        ),
        ("negation_mismatch", "The museum in Paris showed it", "The museum in Paris never showed it"),
        ("negation_mismatch", "Babbage never designed the engine", "Babbage designed the engine"),
        ("opposites", "All visitors hated the garden", "All visitors liked the garden"),
        ("novel_quantifiers", "Some visitors liked the garden", "All visitors liked the garden"),
        ("dangling_in_several", "She wrote notes. Rain fell.", "Ada wrote notes. Rain fell."),
    ],
)
def test_doubt_is_1_or_more_than_for_what_the_source_says(name, wrong, right):
    assert of(name, wrong) > of(name, right) == 0.0


@pytest.mark.parametrize(
    ("claim", "query", "words", "kind"),
    [
        ("Babbage", "Who designed the engine?", 3, "short_answer"),
        ("Charles Babbage designed the whole engine in London.", "Who designed it?", 3, "sentence_answer"),
        ("Babbage designed it.", None, 300, "long_context"),
        ("Babbage designed it.", None, 3, "brief_context"),
    ],
)
def test_kinds_of_text_exclude_one_another(claim, query, words, kind):
    kinds = ("short_answer", "sentence_answer", "long_context", "brief_context")
    found = {name: of(name, claim, query, ["rain " * words]) for name in kinds}
    assert found == {name: float(name == kind) for name in kinds}


def test_what_is_copied_from_the_question_is_told():
    assert of("copied_from_question", "The engine designer", "Who is the engine designer?") == 1.0
    assert of("copied_from_question", "Babbage", "Who is the engine designer?") == 0.0


@pytest.mark.parametrize(
    "passages", [(), ("",), (SOURCE,), (SOURCE, "", "1843 1843")], ids=["no", "empty", "one", "three"]
)
@pytest.mark.parametrize("claim", ["", "?!", "1843", "Ada", "A B C. D? 5% of $6 on May 3", "\u6771\u4eac 5"])
@pytest.mark.parametrize("query", [None, "", "Who?", "the"])
def test_every_signal_is_a_number_between_0_and_1(passages, claim, query):
    found = signals(PassageIndex(passages), claim, query)
    assert found.shape == (len(SIGNALS),)
    assert np.all((found >= 0.0) & (found <= 1.0))


def test_a_verbatim_copy_has_full_recall_and_no_doubt():
    index = PassageIndex([SOURCE])
    found = dict(zip(SIGNALS, signals(index, "Charles Babbage designed the engine.", None), strict=True))
    assert {name: found[name] for name in ("token_recall", "sentence_recall", "longest_run", "character_recall")} == {
        "token_recall": 1.0,
        "sentence_recall": 1.0,
        "longest_run": 1.0,
        "character_recall": 1.0,
    }
    doubts = ("novel_numbers", "novel_names", "pairs_apart", "negation_mismatch", "opposites", "names_elsewhere")
    assert [found[name] for name in doubts] == [0.0] * len(doubts)
