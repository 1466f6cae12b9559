import pytest

from services.common.grounding import windows
from services.common.grounding.passage_index import PassageIndex
from services.common.grounding.windows import Window, WindowCutter, WindowSettings, premises
from services.common.grounding.words import stems
from tests.speed import processor_time_below

FILLER = "Nothing of interest happened there at all."


def count(texts):
    return [len(text.split()) for text in texts]


def cut(passages, claim, query=None, tokens=20, windows=3):
    return premises(passages, claim, query, count, WindowSettings(tokens, windows))


def test_a_context_that_fits_is_one_window_unchanged():
    assert cut(["Delhi is big.", "", "Paris is old."], "Rome is new.") == [
        Window("Delhi is big. Paris is old.", (0, 2))
    ]


@pytest.mark.parametrize("passages", [[], [""], ["  \n"]], ids=["none", "empty", "blank"])
def test_passages_without_a_word_make_no_window(passages):
    assert cut(passages, "Delhi is big.") == []


def test_the_first_window_brings_together_what_lies_far_apart_in_document_order():
    passages = [f"Ada Lovelace was born in London. {FILLER} {FILLER}", f"{FILLER} {FILLER} Ada wrote notes on engines."]
    first = cut(passages, "Ada wrote notes on engines; she was born in London.", tokens=12)[0]
    assert first.text == "Ada Lovelace was born in London. Ada wrote notes on engines."
    assert set(first.passages) == {0, 1}


def test_the_following_windows_are_stretches_around_the_nearest_sentences():
    passages = [FILLER, FILLER, "The dam broke in May.", "It killed nine.", FILLER, FILLER, "May was wet.", FILLER]
    windows = cut(passages, "The dam broke in May.", tokens=15, windows=2)
    assert windows[1].text == f"{FILLER} The dam broke in May. It killed nine."
    assert windows[1].passages[0] == 2


def test_passages_are_named_nearest_first():
    passages = ["The river is long.", "The dam on the river broke in May."]
    (only,) = cut(passages, "The dam broke in May.")
    assert only.passages == (1, 0)


def test_words_of_the_question_help_to_find_the_sentence():
    passages = [FILLER] * 4 + ["Hamlet was written by him."] + [FILLER] * 4
    (only,) = cut(passages, "Shakespeare", "Who wrote Hamlet?", tokens=7, windows=1)
    assert only.text == "Hamlet was written by him."


@pytest.mark.parametrize("tokens", [1, 3, 7, 40])
@pytest.mark.parametrize("windows", [1, 2, 3])
def test_no_window_exceeds_the_budget_and_no_more_come_than_asked_for(tokens, windows):
    passages = ["The dam broke in May and killed nine people in the valley below it. It rained."] * 9
    found = cut(passages, "The dam broke in May.", tokens=tokens, windows=windows)
    assert 1 <= len(found) <= windows
    assert all(size <= tokens for size in count([window.text for window in found]))
    assert len(set(found)) == len(found)


def test_a_sentence_beyond_the_budget_is_read_in_parts():
    long = "the dam broke " + "and water came " * 20
    found = cut([long], "The dam broke.", tokens=8, windows=1)
    assert found[0].text.startswith("the dam broke")
    assert len(found[0].text.split()) <= 8


def test_every_part_of_a_context_without_a_word_of_the_claim_is_as_near_as_the_first():
    assert cut([f"{FILLER} Rain fell."] * 5, "Quarks exist.", tokens=9, windows=3)[0].text.startswith("Nothing")


def test_each_sentence_is_counted_once_per_context():
    asked = []

    def counting(texts):
        asked.extend(texts)
        return count(texts)

    cutter = WindowCutter(PassageIndex([f"Fact {n} is that dam {n} broke." for n in range(30)]), counting)
    for number in range(5):
        cutter.cut(f"Dam {number} broke.", None, WindowSettings(20, 2))
    assert len(asked) == len(set(asked))


@pytest.mark.timed
def test_seventeen_thousand_words_cost_milliseconds():
    passages = [f"Sentence {n} says that thing {n % 97} follows thing {n % 89} in order {n}." for n in range(1_300)]
    with processor_time_below(1.0):  # about 0.03 s; the rest is for a busy machine
        index = PassageIndex(passages)
        WindowCutter(index, count).cut("Thing 5 follows thing 7.", None, WindowSettings())
        assert index.words > 15_000


@pytest.mark.parametrize(("tokens", "windows"), [(0, 1), (1, 0)])
def test_settings_are_at_least_one(tokens, windows):
    with pytest.raises(ValueError, match="at least 1"):
        WindowSettings(tokens, windows)


def test_what_all_parts_of_a_long_claim_are_about_is_read_once(monkeypatch):
    read = []
    monkeypatch.setattr(windows, "stems", lambda text: read.append(text) or stems(text))
    cutter = WindowCutter(PassageIndex([f"Fact {n} is that dam {n} broke." for n in range(30)]), count)
    about = "Why did dam 7 break?"
    for part in range(20):
        cutter.cut(f"Dam {part} broke.", about, WindowSettings())
    assert read.count(about) == 1
