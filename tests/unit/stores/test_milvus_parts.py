"""The parts of the Milvus store that need no Milvus: keys, words, the journal, the gate, failures, settings."""

import asyncio
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from pymilvus.exceptions import MilvusException, ParamError

from services.cli.commands import doctor
from services.cli.commands.doctor import Level as Finding
from services.common import answering, composition
from services.common.adapters.memory import bm25
from services.common.adapters.milvus import MilvusFactStore, fact_rows, journal, words
from services.common.adapters.milvus.failures import passes, translate, translated
from services.common.adapters.milvus.gate import Gate
from services.common.errors import ErrorReason, LimitExceededError, StartupError, UnavailableError
from services.common.keywords import Stemming
from services.common.ports.facts import FactFilter, FactStatus
from services.common.settings import Settings
from services.common.settings.envelope import EnvelopeSettings
from services.common.settings.milvus import MilvusSettings
from services.common.settings.stores import StoreSettings
from tests.contract.adapters import DIMENSION
from tests.contract.records import HOSTILE, LATER, NOW, fact
from tests.patience import patient

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
NOBODY = MilvusSettings(uri="http://127.0.0.1:1", start_timeout_s=0.5, timeout_s=0.5, token="s3cr3t-milvus")


class TestKeys:
    @given(TEXTS, TEXTS)
    def test_they_sort_as_ids_do_and_give_them_back(self, one, other):
        tenant = fact_rows.digest("tenant-a")
        keys = [fact_rows.key_of(fact_rows.stem(tenant, name), 7) for name in (one, other)]
        assert (keys[0] < keys[1]) == (one < other)
        assert [fact_rows.fact_id_of(key) for key in keys] == [one, other]

    @given(TEXTS, TEXTS, TEXTS)
    def test_an_expression_holds_nothing_of_a_caller(self, source, community, fact_id):
        where = FactFilter(source_ids=(source,), communities=(community,), statuses=tuple(FactStatus))
        stem = fact_rows.stem(fact_rows.digest(source), fact_id)
        made = fact_rows.filter_condition(where) + fact_rows.listed("fact", [fact_rows.fact_number(stem)]) + stem
        assert set(made) <= set('abcdefghijklmnopqrstuvwxyz0123456789_"[], ')

    def test_tenants_with_the_same_ids_have_other_keys(self):
        stems = {fact_rows.stem(fact_rows.digest(tenant), "same") for tenant in HOSTILE}
        assert len(stems) == len(HOSTILE)


class TestRows:
    @pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
    def test_a_fact_comes_back_from_its_row(self, text):
        given_ = fact(text, content=text, source_id=text, source_location=text, metadata={text: text}, ttl=timedelta(1))
        row = fact_rows.encode(given_, fact_rows.digest("tenant-a"), DIMENSION, Stemming.ENGLISH)
        row |= {"key": fact_rows.key_of(row["key"], 3), "born": 3}
        assert fact_rows.record("tenant-a", row) == given_
        assert all(len(piece.encode()) <= 65_535 for piece in row["body"])

    def test_a_tombstone_keeps_nothing_of_the_content(self):
        row = fact_rows.encode(
            fact("a", content="secret words", metadata={"k": "secret"}), "0" * 64, DIMENSION, Stemming.ENGLISH
        )
        row |= {"key": fact_rows.key_of(row["key"], 1)}
        buried = fact_rows.tombstone_of(row, fact_rows.micros(LATER))
        assert "secret" not in str(buried)
        assert (buried["words"], buried["terms"]) == ([], "")
        found = fact_rows.record("tenant-a", buried)
        assert (found.status, found.modified_at, found.content) == (FactStatus.DELETED, LATER, "")
        assert not found.embedding.any()
        assert not np.allclose(buried["vector"], row["vector"])

    def test_ids_and_texts_beyond_what_milvus_keeps_are_refused(self):
        with pytest.raises(ValueError, match="fact id of 40000 characters"):
            fact_rows.encode(fact("x" * 40_000), "0" * 64, DIMENSION, Stemming.ENGLISH)
        with pytest.raises(ValueError, match="at most"):
            fact_rows.encode(fact("a", content="x" * 1_100_000), "0" * 64, DIMENSION, Stemming.ENGLISH)


class TestWords:
    @given(st.lists(st.sampled_from(["hail", "Storm", "élan", "a b c", "hail hail"]), max_size=6), st.data())
    def test_scores_are_the_other_stores(self, parts, data):
        texts = {f"f{n}": " ".join(data.draw(st.permutations(parts))) for n in range(3)} | {"g": "hail of words"}
        query = "hail storm elan b unknown"
        wanted = words.query_words(query, Stemming.ENGLISH)
        found = {key: words.encoded_words(text, Stemming.ENGLISH) for key, text in texts.items()}
        candidates = [words.Candidate(key, one.terms, one.length) for key, one in found.items()]
        frequencies = {word: sum(word in candidate.counts(wanted) for candidate in candidates) for word in wanted}
        mean = sum(one.length for one in found.values()) / len(found)
        assert words.score(candidates, wanted, frequencies, len(texts), mean) == pytest.approx(bm25.rank(texts, query))

    def test_a_text_of_more_words_than_fit_is_marked_and_read(self):
        text = " ".join(f"w{n}" for n in range(5_000))
        encoded = words.encoded_words(text, Stemming.ENGLISH)
        assert encoded.hashes[0] == words.MANY
        assert (len(encoded.hashes), encoded.terms, encoded.length) == (words.MOST_HASHES, "", 5_000)
        assert words.Candidate("k", "", 5_000, tuple(text.split())).counts(["w4999", "w5000"]) == {"w4999": 1}


def entries(*given_: tuple[int, str, str]) -> journal.Standing:
    rows = [
        journal.entry("t" * 64, batch, state, writer, fact_rows.Weight(batch, 10 * batch), n)
        for n, (batch, state, writer) in enumerate(given_)
    ]
    return journal.read(rows)


class TestJournal:
    def test_nothing_was_written(self):
        standing = entries()
        assert (standing.batch, standing.next_batch, standing.unfinished, standing.pending) == (0, 1, (), ())

    def test_the_last_complete_write_counts_and_the_one_before_is_of_no_more_use(self):
        standing = entries((1, journal.DONE, "w"), (2, journal.DONE, "w"))
        assert (standing.batch, standing.next_batch, standing.weight) == (2, 3, fact_rows.Weight(2, 20))
        assert [key.split(".")[1:] for key in standing.superseded] == [["0000000000000001", "done"]]

    def test_what_is_open_is_pending_until_it_is_done(self):
        pending = entries((1, journal.DONE, "w"), (2, journal.OPEN, "w"))
        assert ([one.batch for one in pending.pending], pending.unfinished, pending.batch) == ([2], (), 1)
        unfinished = entries((1, journal.DONE, "w"), (2, journal.OPEN, "w"), (2, journal.DONE, "w"))
        assert ([one.batch for one in unfinished.unfinished], unfinished.pending, unfinished.batch) == ([2], (), 2)

    def test_a_number_that_was_put_out_of_use_is_neither_seen_nor_used_again(self):
        standing = entries((1, journal.DONE, "w"), (2, journal.VOID, "w"), (2, journal.DONE, "late"))
        assert (standing.batch, standing.next_batch) == (1, 3)
        later = entries((2, journal.VOID, "w"), (3, journal.DONE, "w"))
        assert later.condition("t").endswith("batch <= 3 and batch not in [2]")

    def test_the_last_write_that_removed_facts_is_known_once_it_is_complete(self):
        first = ((1, journal.REMOVED, "w"), (1, journal.DONE, "w"))
        assert entries((1, journal.DONE, "w")).removed == 0
        assert (entries(*first).removed, entries(*first, (3, journal.DONE, "w")).removed) == (1, 1)
        pending = entries(*first, (2, journal.OPEN, "w"), (2, journal.REMOVED, "w"))
        assert (pending.removed, pending.superseded) == (1, ())
        done = entries(*first, (2, journal.REMOVED, "w"), (2, journal.DONE, "w"))
        assert done.removed == 2
        assert {key.split(".", 1)[1] for key in done.superseded} == {
            "0000000000000001.removed",
            "0000000000000001.done",
        }
        void = entries(*first, (2, journal.REMOVED, "w"), (2, journal.VOID, "w"), (3, journal.DONE, "w"))
        assert (void.removed, {key.split(".", 1)[1] for key in void.superseded}) == (
            1,
            {"0000000000000002.removed", "0000000000000001.done"},
        )

    def test_the_open_entries_of_two_writers_stand_side_by_side(self):
        one, other = (journal.entry_key("t", 1, journal.OPEN, writer) for writer in ("a", "b"))
        assert one != other
        assert journal.entry_key("t", 1, journal.DONE, "a") == journal.entry_key("t", 1, journal.DONE, "b")


class TestGate:
    async def test_a_change_waits_for_readers_and_keeps_new_ones_out(self):
        gate, said, leave = Gate(), [], asyncio.Event()

        async def read(name: str) -> None:
            async with gate.reading():
                said.append(name)
                await leave.wait()

        async def change() -> None:
            async with gate.changing():
                said.append("change")

        first = asyncio.ensure_future(read("first"))
        await asyncio.sleep(0)
        tasks = [first, asyncio.ensure_future(change())]
        for _ in range(3):
            await asyncio.sleep(0)
        tasks.append(asyncio.ensure_future(read("second")))
        for _ in range(3):
            await asyncio.sleep(0)
        assert said == ["first"]
        leave.set()
        await asyncio.gather(*tasks)
        assert said == ["first", "change", "second"]

    async def test_a_change_that_is_given_up_lets_readers_in(self):
        gate, leave = Gate(), asyncio.Event()

        async def read() -> None:
            async with gate.reading():
                await leave.wait()

        async def change() -> None:
            async with gate.changing():
                pytest.fail("a reader is inside")

        reader, changer = asyncio.ensure_future(read()), asyncio.ensure_future(change())
        for _ in range(3):
            await asyncio.sleep(0)
        changer.cancel()
        await asyncio.wait([changer])
        leave.set()
        await asyncio.gather(reader, read())


class TestFailures:
    @pytest.mark.parametrize("code", [101, 2, 8, 503, grpc.StatusCode.UNAVAILABLE])
    def test_what_passes_is_repeated_and_told_as_unavailable(self, code):
        error = MilvusException(code, "host db.internal, expression with 'secret'")
        assert passes(error)
        meaning = translate(error)
        assert isinstance(meaning, UnavailableError)
        assert (meaning.reason, meaning.retry_after_s) == (ErrorReason.STORE_UNAVAILABLE, 1.0)
        assert "secret" not in meaning.message + str(meaning.metadata)
        assert "db.internal" not in meaning.message

    @pytest.mark.parametrize("code", [3, 7, 9])
    def test_no_room_is_full(self, code):
        meaning = translate(MilvusException(code, "quota"))
        assert isinstance(meaning, LimitExceededError)
        assert meaning.reason is ErrorReason.STORAGE_FULL

    @pytest.mark.parametrize("code", [1400, grpc.StatusCode.UNAUTHENTICATED])
    def test_a_credential_that_is_refused_is_no_matter_of_seconds(self, code):
        error = MilvusException(code, "no")
        assert not passes(error)
        assert translate(error).retry_after_s == 30.0

    @pytest.mark.parametrize("error", [MilvusException(1100, "parse"), ParamError(message="x"), ValueError("x")])
    def test_a_mistake_of_ours_passes_through(self, error):
        assert translate(error) is None
        with pytest.raises(type(error)), translated():
            raise error

    def test_time_that_is_up_is_unavailable(self):
        with pytest.raises(UnavailableError, match="did not answer in time"), translated():
            raise TimeoutError

    async def test_nobody_there_is_told_when_the_start_has_waited_enough(self):
        with pytest.raises(UnavailableError, match="Milvus cannot serve"):
            await MilvusFactStore.open(NOBODY, embedding_model="m", dimension=3)

    async def test_a_certificate_file_that_is_not_there(self, tmp_path):
        settings = MilvusSettings(uri="https://127.0.0.1:1", tls_root_certificates=tmp_path / "none.pem")
        with pytest.raises(StartupError, match="GROUNDTRAIL_MILVUS__TLS_ROOT_CERTIFICATES"):
            await MilvusFactStore.open(settings, embedding_model="m", dimension=3)


class TestSettings:
    @pytest.mark.parametrize("uri", ["", "milvus:19530", "http://user:secret@h:1", "http://h/db", "tcp://h:1"])
    def test_no_address(self, uri):
        with pytest.raises(ValidationError):
            MilvusSettings(uri=uri)

    @pytest.mark.parametrize("prefix", ["", "1a", "a-b", 'a"b', "x" * 65])
    def test_no_prefix(self, prefix):
        with pytest.raises(ValidationError):
            MilvusSettings(collection_prefix=prefix)

    def test_certificates_go_with_tls(self, tmp_path):
        with pytest.raises(ValidationError, match="goes with https"):
            MilvusSettings(tls_root_certificates=tmp_path / "ca.pem")

    def test_the_token_is_shown_nowhere(self):
        shown = Settings(milvus=NOBODY)
        assert "s3cr3t-milvus" not in repr(shown) + str(shown.model_dump(mode="json"))

    def test_several_writers_need_strong_reads(self):
        shared: dict[str, Any] = {
            "store": StoreSettings(facts="milvus"),
            "envelope": EnvelopeSettings(shared_store=True),
        }
        with pytest.raises(ValidationError, match=r"milvus\.consistency=strong"):
            Settings(**shared)
        assert Settings(**shared, milvus=MilvusSettings(consistency="strong"))

    async def test_without_the_client_the_start_says_what_to_install(self, monkeypatch):
        monkeypatch.setattr(answering, "find_spec", lambda _: None)
        async with composition.Adapters(Settings(store=StoreSettings(facts="milvus"))) as adapters:
            with pytest.raises(StartupError, match=r"groundtrail\[milvus\]"):
                await adapters.fact_store()


class TestDoctor:
    async def test_a_server_that_does_not_answer_is_a_problem(self, tmp_path):
        store = StoreSettings(data_dir=tmp_path, facts="milvus")
        (finding,) = await doctor._milvus(Settings(store=store, milvus=NOBODY))
        assert (finding.check, finding.level) == ("milvus", Finding.PROBLEM)
        assert "GROUNDTRAIL_MILVUS__URI" in finding.advice
        assert "s3cr3t" not in finding.detail + finding.advice
        checks = {one.check for one in await doctor._stores(Settings(store=store))}
        assert "knowledge.db" not in checks

    async def test_nobody_is_asked_when_nothing_is_there(self):
        assert await doctor._milvus(Settings()) == []


def test_moments_keep_their_microseconds():
    assert fact_rows.moment(fact_rows.micros(NOW)) == NOW


def test_the_client_reads_no_file_into_the_environment(tmp_path):
    (tmp_path / ".env").write_text("GROUNDTRAIL_LEAKED=secret\n", encoding="utf-8")
    program = (
        "import os, dotenv.main as d; d.find_dotenv = lambda *a, **k: '.env'\n"
        "import services.common.adapters.milvus\n"
        "print('GROUNDTRAIL_LEAKED' in os.environ)"
    )
    root = str(Path(__file__).parents[3])
    environment = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join([root, f"{root}/gen"])}
    command = [sys.executable, "-c", program]
    said = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True, timeout=patient(60)
    )
    assert said.stdout.strip() == "False"


def test_the_worked_example_of_adr_0060():
    common, rare = words.idf(60, 60), words.idf(60, 6)
    assert words.most(common) == pytest.approx(0.0000022)
    least = words.score(
        [words.Candidate("k", words.encoded_words("rare", Stemming.ENGLISH).terms, 1_000)],
        ["rare"],
        {"rare": 6},
        60,
        10.0,
    )
    assert rare > least["k"] > words.most(common)
