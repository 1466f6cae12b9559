"""Facts are counted once for a model, as the tokenizer counts them."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from services.common.encoding import sha256_hex
from services.common.ports.facts import FactRecord, FactStatus
from services.envelope.counted_facts import CountedFacts, count_beside

NOW = datetime(2026, 5, 24, tzinfo=UTC)


class Words:
    """Counts words, and what it was asked."""

    def __init__(self):
        self.asked = []

    async def opened(self, model):
        pass

    def count(self, texts, model):
        self.asked.append((list(texts), model))
        return [len(text.split()) + (model == "double") * len(text.split()) for text in texts]


def fact(content, tenant_id="t"):
    return FactRecord(
        tenant_id=tenant_id,
        fact_id=content,
        content=content,
        content_hash=sha256_hex(content),
        source_id="s",
        source_location="",
        importance_weight=0.5,
        ingested_at=NOW,
        modified_at=NOW,
        status=FactStatus.ACTIVE,
        embedding=np.eye(1, 4, dtype=np.float32)[0],
    )


async def test_only_what_is_new_is_counted():
    words = Words()
    counted = CountedFacts(words)
    first, second, third = fact("one"), fact("two words"), fact("and three words")
    assert await counted.count([first, second, first], "plain") == [1, 2, 1]
    assert await counted.count([third, second, replace(first, community_label="c")], "plain") == [3, 2, 1]
    assert await counted.count([], "plain") == []
    assert words.asked == [(["one", "two words"], "plain"), (["and three words"], "plain")]


async def test_each_model_and_each_tenant_has_its_own_counts():
    words = Words()
    counted = CountedFacts(words)
    assert await counted.count([fact("two words")], "plain") == [2]
    assert await counted.count([fact("two words")], "double") == [4]
    assert await counted.count([fact("two words", "u")], "plain") == [2]
    assert len(words.asked) == len(counted) == 3


async def test_the_oldest_go_when_there_is_no_room_and_the_counts_stay_right():
    words = Words()
    counted = CountedFacts(words, capacity=2)
    facts = [fact("w " * number) for number in range(1, 6)]
    assert await counted.count(facts, "plain") == [1, 2, 3, 4, 5]
    assert len(counted) == 2
    assert await counted.count([facts[4], facts[0]], "plain") == [5, 1]
    assert words.asked[-1] == (["w "], "plain")


async def test_nothing_of_a_text_is_kept():
    counted = CountedFacts(Words())
    await counted.count([fact("a secret of somebody")], "plain")
    assert "secret" not in repr(vars(counted))


async def test_long_texts_are_counted_beside_the_event_loop():
    import threading

    class Where(Words):
        def count(self, texts, model):
            self.thread = threading.current_thread()
            return super().count(texts, model)

    words = Where()
    await count_beside(words, ["x"], "plain")
    assert words.thread is threading.main_thread()
    assert await count_beside(words, ["x " * 60_000], "plain") == [60_000]
    assert words.thread is not threading.main_thread()
