"""Words of keyword search: folded alike, English stemmed, codes left as they are."""

import hashlib
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.keywords import Stemming, edition, keywords, stemming_of

WORDS = """
    a abandoned ability abs accident accidents activate adjusting agreed allocation analogous analyses analysis
    apologise approximately argument arguing assured assuring bases bed beneficial boundary buses business
    buying cared carefully claim claimant claimed claiming claims communication compressible conditional consign
    consigned consolidated cries cried deductible deductibles dies differ different digitiser dogs driver
    driving dying early electrical engine engineering exceed excess fairly falling filing flies flow flowing
    flows formality gas generate generically goodness happily happy heating hopefulness hoping insurance insure
    insured international inviting jumps laws layers liable liability maximum motoring national nearly news
    numerical oed operator organisation paid paying payments plastered policies policyholder policy predication
    probably rational reimbursement relational replacement reports reporting roll sensitivity sized skies sky
    successfully supersonic tanned this ties triplicate troubled turbulent universities university used using
    vehicular vietnamization viscosity was wings yes younger
"""


def english(text: str) -> list[str]:
    return keywords(text, Stemming.ENGLISH)


def plain(text: str) -> list[str]:
    return keywords(text, Stemming.NONE)


class TestFolding:
    @pytest.mark.parametrize(
        ("text", "folded"),
        [
            ("Élan VITAL, naïve", ["elan", "vital", "naive"]),
            ("Straße STRASSE", ["strasse", "strasse"]),
            ("5 µm = 5 μm", ["5", "μm", "5", "μm"]),
            ("KH-4419/b_2", ["kh", "4419", "b", "2"]),
            ("мой МОЙ мои ещё", ["мой", "мой", "мои", "еще"]),
            ("हिन्दी में", ["हिन्दी", "में"]),
            ("שָׁלוֹם שלום", ["שלום", "שלום"]),
            ("مُحَمَّد محمد", ["محمد", "محمد"]),
            ("\x00 \ud800 🧾 §", []),
        ],
    )
    def test_what_is_written_in_two_ways_is_one_word(self, text, folded):
        assert plain(text) == [unicodedata.normalize("NFD", word) if word != "мой" else word for word in folded]

    def test_marks_that_make_another_letter_stay(self):
        assert plain("か") != plain("が")
        assert plain("मन") != plain("मान")

    @given(st.text(max_size=40))
    def test_no_blank_and_no_ascii_separator_is_left_in_a_word(self, text):
        for word in plain(text):
            assert not word.isspace()
            assert all(char.isalnum() for char in word if char.isascii())


class TestStemming:
    @pytest.mark.parametrize(
        "forms",
        [
            ("claim", "claims", "claimed", "claiming"),
            ("policy", "policies"),
            ("sky", "skies"),
            ("die", "died", "dies", "dying"),  # the first Porter stemmer leaves dying apart
            ("report", "reported", "REPORTS", "report's"),
            ("generate", "generates", "generated"),
        ],
    )
    def test_forms_of_a_word_are_one(self, forms):
        assert len({english(form)[0] for form in forms}) == 1

    @pytest.mark.parametrize(
        "code", ["KH-4419", "KH4419S", "4419s", "1990s", "A12ing", "NDTS-7", "khs", "ABS", "gas", "PDFs", "h2o"]
    )
    def test_codes_and_what_may_be_one_stay_as_they_are(self, code):
        assert english(code) == plain(code)

    @pytest.mark.parametrize(
        "text", ["Österreichische Straßenverkehrsordnung", "страхования", "保険の請求", "ασφάλιση", "التأمين"]
    )
    def test_letters_beyond_a_to_z_are_left_alone(self, text):
        foreign = [word for word in plain(text) if not word.isascii()]
        assert [word for word in english(text) if not word.isascii()] == foreign

    @given(st.text(alphabet="bcdfghjklmnpqrstvwxz", min_size=1, max_size=8))
    def test_a_word_without_a_vowel_stays_as_it_is(self, word):
        assert english(word) == [word]

    def test_none_leaves_everything(self):
        assert plain("claims policies") == ["claims", "policies"]

    @given(st.lists(st.text(alphabet="abcdefgilnorstuyé4", min_size=1, max_size=9), max_size=6))
    def test_what_becomes_of_a_word_depends_on_it_alone(self, words):
        assert english(" ".join(words)) == [english(word)[0] for word in words]

    def test_a_word_of_any_length_is_one_word(self):
        assert english("running" * 50_000) == ["running" * 50_000]

    def test_threads_do_not_disturb_one_another(self):
        texts = [f"{word}{'x' * n}ations" for n in range(20) for word in WORDS.split()]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(english, texts))
        assert found == [english(text) for text in texts]


class TestEdition:
    def test_the_words_of_this_edition_are_these(self):
        """A difference means that indexes must be built anew: raise ``_EDITION`` with the digest."""
        made = " ".join(english(WORDS) + english("Élan µm हिन्दी שָׁלוֹם мой が ﬁre"))
        assert hashlib.sha256(made.encode()).hexdigest()[:16] == "269fb9f67487e66a"

    def test_it_names_what_words_are_made_with(self):
        assert {edition(one) for one in Stemming} == {
            f"{one}/2/{unicodedata.unidata_version}" for one in ("english", "none")
        }

    @pytest.mark.parametrize("stemming", Stemming)
    def test_the_stemming_is_read_from_it(self, stemming):
        assert stemming_of(edition(stemming)) is stemming

    def test_what_nobody_knows_is_refused(self):
        with pytest.raises(ValueError, match="unicode61"):
            stemming_of("unicode61")
