"""Token ids with the special tokens laid around them by hand are what the tokenizer itself gives."""

import threading

import pytest
from tokenizers import Tokenizer, normalizers, processors

from services.common.adapters.encoders.tokenizer import IN_PLACE_CHARS, EncoderTokenizer, off_the_loop
from services.common.model_repository import ModelRepositoryError
from services.common.resources import resource_path
from tests.fakes.tiny_encoders import TinyEncoder, tokenizer, write_repository

WORD_PIECE = resource_path("model_repository") / "embedder" / "tokenizer.json"
TEXTS = ("Water damage must be reported.", "Unbelievable, naïve 😀!", "")


def delivered():
    return Tokenizer.from_file(str(WORD_PIECE))


@pytest.mark.parametrize("make", [delivered, tokenizer], ids=["BERT template", "MPNet template"])
@pytest.mark.parametrize("first", TEXTS, ids=["plain", "accents", "empty"])
@pytest.mark.parametrize("second", TEXTS, ids=["plain", "accents", "empty"])
def test_texts_and_pairs_as_the_library_lays_them_out(make, first, second):
    library, ours = make(), EncoderTokenizer(make())
    library.no_truncation()
    library.no_padding()
    one, two = ours.ids([first, second])
    assert ours.text(one) == tuple(library.encode(first).ids)
    assert ours.pair(one, two) == tuple(library.encode(first, second).ids)
    assert ours.text_specials == library.num_special_tokens_to_add(is_pair=False)
    assert ours.pair_specials == library.num_special_tokens_to_add(is_pair=True)
    pair = ours.pair(one, two)
    assert pair[ours.first_start :][: len(one)] == one
    assert pair[ours.second_start(one) :][: len(two)] == two


def test_a_truncating_file_does_not_truncate():
    library = delivered()
    library.enable_truncation(8)
    library.enable_padding(length=16)
    assert [len(ids) for ids in EncoderTokenizer(library).ids(["water " * 20, ""])] == [20, 0]


def test_sentence_ends_are_the_marks_of_the_vocabulary():
    ours = EncoderTokenizer(delivered())
    assert set(ours.ids([". ! ?"])[0]) <= ours.sentence_ends
    assert EncoderTokenizer(tokenizer()).sentence_ends == {4}


def drops_the_probe(library):
    library.normalizer = normalizers.Replace("a", "")


def turns_the_pair_round(library):
    library.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $B </s> $A", special_tokens=[("<s>", 0), ("</s>", 2)]
    )


@pytest.mark.parametrize("change", [drops_the_probe, turns_the_pair_round])
def test_a_template_that_cannot_be_told_from_a_probe_is_refused(change):
    library = tokenizer()
    change(library)
    with pytest.raises(ModelRepositoryError, match="cannot be told"):
        EncoderTokenizer(library)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.unlink(), "cannot be loaded"),
        (lambda path: path.write_text("{}"), "cannot be loaded"),
    ],
    ids=["missing", "broken"],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, change, message):
    repository = write_repository(tmp_path, TinyEncoder())
    change(tmp_path / "nli" / "tokenizer.json")
    with pytest.raises(ModelRepositoryError, match=rf"tokenizer\.json {message}"):
        EncoderTokenizer.load(repository, "nli")


def test_a_file_that_the_manifest_does_not_pin_is_refused(tmp_path):
    files = [{"path": "1/model.onnx", "role": "weights", "bytes": 1, "sha256": "0" * 64}]
    repository = write_repository(tmp_path, TinyEncoder(changes={"files": files}))
    with pytest.raises(ModelRepositoryError, match=r"tokenizer\.json is not listed in MANIFEST\.json"):
        EncoderTokenizer.load(repository, "nli")


@pytest.mark.parametrize(
    ("texts", "here"),
    [(["a" * IN_PLACE_CHARS], True), (["a" * IN_PLACE_CHARS, "a"], False)],
    ids=["few are tokenised in place", "many in a thread"],
)
async def test_many_texts_are_tokenised_off_the_event_loop(texts, here):
    thread = await off_the_loop(texts, lambda _: threading.current_thread())
    assert (thread is threading.main_thread()) is here
