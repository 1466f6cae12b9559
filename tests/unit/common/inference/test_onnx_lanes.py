"""A batch in parts, side by side: every item once, like lengths together, the same bits, ended together."""

import random
import threading

import pytest

from services.common.adapters.onnx.abandonment import Abandonment
from services.common.adapters.onnx.session import COMPUTING, OnnxEncoder, lanes_of, parts_of, runs_of
from services.common.errors import UnavailableError
from services.common.model_repository import open_repository
from services.common.settings.inference import InferenceSettings

REPOSITORY = open_repository(InferenceSettings())


@pytest.mark.parametrize("lanes", [2, 3, 8])
def test_every_item_is_in_one_part_and_the_work_is_nearly_equal(lanes):
    rng = random.Random(lanes)
    for _ in range(200):
        lengths = [rng.randint(3, 60) for _ in range(rng.randint(1, 24))]
        parts = parts_of(lengths, lanes)
        assert sorted(place for part in parts for place in part) == list(range(len(lengths)))
        assert 1 <= len(parts) <= lanes
        assert all(parts)
        work = [sum(lengths[place] for place in part) for part in parts]
        assert max(work) < sum(lengths) / lanes + max(lengths) + 1
        shortest = [min(lengths[place] for place in part) for part in parts]
        assert shortest == sorted(shortest, reverse=True)


def test_one_lane_takes_all_the_longest_first():
    assert parts_of([3, 9, 4], 1) == [[1, 2, 0]]


@pytest.mark.parametrize(
    ("widths", "runs"),
    [
        ([512, 512], [(0, 1), (1, 2)]),
        ([100, 100, 100, 100, 60, 8], [(0, 4), (4, 6)]),
        ([8] * 57, [(0, 56), (56, 57)]),
        ([448], [(0, 1)]),
        ([], [(0, 0)]),
    ],
)
def test_runs_hold_as_many_padded_tokens_as_stay_in_the_cache(widths, runs):
    assert runs_of(widths, 448) == runs


def test_an_embedder_has_a_lane_for_each_thread_and_what_reads_pairs_has_two():
    assert lanes_of(REPOSITORY.entry("embedder"), 4) == 4
    assert [lanes_of(REPOSITORY.entry("nli"), threads) for threads in (1, 2, 4)] == [1, 2, 2]


@pytest.mark.parametrize(("threads", "parts"), [(1, [3]), (2, [1, 2]), (4, [1, 2])])
def test_long_pairs_are_computed_in_two_parts_that_share_the_threads(threads, parts, monkeypatch):
    encoder = OnnxEncoder(REPOSITORY, REPOSITORY.verified("nli"), threads=threads)
    items = [(101, *([2000 + number] * length), 102) for number, length in enumerate((4, 20, 8))]
    alone = [encoder.encode([one])[0] for one in items]
    seen = []

    def run(batch, options, inner=encoder._run):
        seen.append(len(batch))
        return inner(batch, options)

    monkeypatch.setattr(encoder, "_run", run)
    for one, other in zip(alone, encoder.encode(items), strict=True):
        assert one[0].tobytes() == other[0].tobytes()
    assert sorted(seen) == parts


def test_a_small_batch_has_all_lanes_alone_and_one_beside_another(monkeypatch):
    encoder = OnnxEncoder(REPOSITORY, REPOSITORY.verified("nli"), threads=2)
    seen = []

    def run(batch, options, inner=encoder._run):
        seen.append(len(batch))
        return inner(batch, options)

    monkeypatch.setattr(encoder, "_run", run)
    small = [(101, *([2000 + number] * 8), 102) for number in range(3)]
    large = [(101, *([2000 + number] * 120), 102) for number in range(2)]
    alone = encoder.encode(small)
    assert sorted(seen) == [1, 2]

    seen.clear()
    with COMPUTING:
        assert [one[0].tobytes() for one in encoder.encode(small)] == [one[0].tobytes() for one in alone]
        assert seen == [3]
        encoder.encode(large)
        assert sorted(seen) == [1, 1, 3]
    seen.clear()
    encoder.encode(small)
    assert sorted(seen) == [1, 2]


@pytest.fixture(scope="module")
def encoders():
    entry = REPOSITORY.verified("embedder")
    return [OnnxEncoder(REPOSITORY, entry, threads=threads) for threads in (1, 3)]


def test_the_bits_are_the_same_however_many_lanes(encoders):
    rng = random.Random(5)
    batch = [(101, *(rng.randint(1000, 20_000) for _ in range(rng.randint(3, 40))), 102) for _ in range(16)]
    alone, beside = (encoder.encode(batch) for encoder in encoders)
    for one, other in zip(alone, beside, strict=True):
        assert one[0].tobytes() == other[0].tobytes()


def test_the_bits_are_the_same_however_long_the_runs(encoders, monkeypatch):
    rng = random.Random(6)
    batch = [(101, *(rng.randint(1000, 20_000) for _ in range(length)), 102) for length in (1, 2, 3, 5, 9, 61, 17, 33)]
    want = [one[0].tobytes() for one in encoders[0].encode(batch)]
    for tokens in (1, 64, 10_000):
        monkeypatch.setattr("services.common.adapters.onnx.session.RUN_TOKENS", tokens)
        assert [one[0].tobytes() for one in encoders[0].encode(batch)] == want


def test_a_batch_that_nobody_waits_for_ends_in_every_lane(encoders):
    abandonment = Abandonment()
    batch = [(101, *([2000 + number] * 500), 102) for number in range(60)]
    timer = threading.Timer(0.05, abandonment.ask)
    timer.start()
    with abandonment.heeded(), pytest.raises(UnavailableError):
        encoders[1].encode(batch)
    timer.join()
