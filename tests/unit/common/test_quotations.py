"""What an answer to an ingestion quotes of others, and the answer without it (ADR 0112)."""

from crp.ckf.v1 import knowledge_service_pb2

from services.common.quotations import quoted_sources, unquoted, without_words_of
from tests.contract.records import quoting, receipt


def test_it_names_whom_it_quotes():
    assert quoted_sources(quoting("r", "s1", "s2")) == {"s1", "s2"}
    assert quoted_sources(unquoted(quoting("r", "s1", "s2"), {"s1"})) == {"s2"}


def test_other_answers_and_those_that_do_not_parse_quote_nobody():
    assert quoted_sources(quoting("r", "s1", rpc="IngestFacts")) == frozenset()
    assert quoted_sources(receipt("r")) == frozenset()
    assert without_words_of(b"\x00no answer", {"s1"}) == b"\x00no answer"


def test_an_answer_that_quotes_none_of_them_is_the_same_bytes():
    answer = quoting("r", "s1")
    assert unquoted(answer, {"s2"}) == answer
    assert unquoted(answer, set()) is answer


def test_no_word_of_an_erased_source_is_left_neither_sentence_nor_value():
    kept = unquoted(quoting("r", "s1", "s2"), {"s1"}).response
    report = knowledge_service_pb2.IngestSourceResponse.FromString(kept).report
    assert [(one.other_content, one.other_value) for one in report.disagreements] == [
        ("", ""),
        ("words of s2", "value of s2"),
    ]
    assert [one.other_content for one in report.duplicates] == ["", "words of s2"]
    assert b"s1" not in kept.replace(b"s1", b"", 2)  # the ids alone are left
