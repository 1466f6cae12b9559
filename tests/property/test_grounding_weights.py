"""Windows are cut as if words counted that the passages do not hold: leaving those out changes nothing."""

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from services.common.grounding import windows
from services.common.grounding.passage_index import PassageIndex
from services.common.grounding.windows import Window, WindowCutter, WindowSettings
from services.common.grounding.words import stems

_WORDS = st.sampled_from(("bridge", "canal", "river", "town", "the", "of", "is", "long", "zebra", "quartz", "jacket"))
_TEXT = st.lists(_WORDS, min_size=1, max_size=12).map(" ".join)
_PASSAGE = st.lists(st.lists(_WORDS, min_size=2, max_size=8).map(lambda words: " ".join(words) + "."), max_size=12)


def _with_all_words(index: PassageIndex, text: str, share: float) -> dict[str, float]:
    weights = {stem: share * index.weight(stem) for stem in stems(text)}
    return {stem: weight for stem, weight in weights.items() if weight > 0.0}


def _cut(passage: list[str], claims: list[str], query: str) -> list[list[Window]]:
    cutter = WindowCutter(PassageIndex([" ".join(passage)]), lambda texts: [len(text.split()) for text in texts])
    return [cutter.cut(claim, query, WindowSettings(14, 3)) for claim in claims]


@given(_PASSAGE, st.lists(_TEXT, min_size=1, max_size=3), _TEXT)
def test_words_that_no_passage_holds_change_no_window(passage: list[str], claims: list[str], query: str) -> None:
    found = _cut(passage, claims, query)
    event(f"{max(map(len, found))} windows")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "_weighed", _with_all_words)
        assert found == _cut(passage, claims, query)
