"""Cosignatures and submissions (C2SP tlog-cosignature, tlog-witness), against an Ed25519 and hashing of their own."""

import base64
import hashlib

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from services.common.cosignature import Cosigner, WitnessKey, bad_cosignatures, good_cosignatures
from services.common.signed_note import Checkpoint, Note, NoteSigner, signature_lines
from services.common.submission import MAX_PROOF_LINES, Submission, read_size

SEED = bytes(range(32))
WITNESS = Cosigner("witness.example/w1", SEED)
LOG = NoteSigner("log.example/x", bytes(32))
TEXT = str(Checkpoint("log.example/x", 20852163, hashlib.sha256(b"root").digest()))
NOTE = Note(TEXT, (LOG.sign(TEXT),))
MOMENT = 1679315147
EXAMPLE = """old 20852014
PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa \
Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
"""


def public_of(seed):
    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


def test_the_line_is_that_of_the_specification():
    line = WITNESS.cosign(TEXT, MOMENT)
    public = public_of(SEED)
    assert line.key_id == hashlib.sha256(b"witness.example/w1\n\x04" + public).digest()[:4]
    moment, signature = line.signature[:8], line.signature[8:]
    assert int.from_bytes(moment, "big") == MOMENT
    message = f"cosignature/v1\ntime {MOMENT}\n{TEXT}".encode()
    Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    with pytest.raises(InvalidSignature):
        Ed25519PublicKey.from_public_bytes(public).verify(signature, TEXT.encode())
    assert line.line() == "— witness.example/w1 " + base64.b64encode(line.key_id + line.signature).decode() + "\n"


def test_the_key_is_read_as_it_is_written():
    key = WITNESS.key
    assert WitnessKey.parse(f" {key}\n") == key
    raw = base64.b64encode(b"\x04" + public_of(SEED)).decode()
    assert str(key) == f"witness.example/w1+{key.key_id.hex()}+{raw}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        str(LOG.key),
        str(WITNESS.key)[:-4],
        str(WITNESS.key).replace("w1", "w2"),
        "a b+" + str(WITNESS.key).split("+", 1)[1],
    ],
)
def test_what_is_no_key_of_a_witness_is_refused(text):
    with pytest.raises(ValueError, match="key"):
        WitnessKey.parse(text)


def test_a_cosigned_note_is_found_good_and_old_readers_pass_over_the_line():
    other = Cosigner("witness.example/w2", bytes(31) + b"\1")
    note = NOTE.with_signatures([WITNESS.cosign(TEXT, MOMENT), WITNESS.cosign(TEXT, MOMENT + 5), other.cosign(TEXT, 3)])
    read = Note.parse(str(note))
    assert read == note
    assert read.holds(LOG.key, "log.example/x")
    assert good_cosignatures(read, [WITNESS.key, other.key]) == {WITNESS.key: MOMENT + 5, other.key: 3}
    assert good_cosignatures(NOTE, [WITNESS.key]) == {}
    assert bad_cosignatures(read, [WITNESS.key, other.key]) == []
    assert note.with_signatures(note.signatures) == note
    assert signature_lines(other.cosign(TEXT, 3).line()) == (other.cosign(TEXT, 3),)


def test_every_changed_bit_of_a_cosignature_is_bad():
    line = WITNESS.cosign(TEXT, MOMENT)
    for bit in range(len(line.signature) * 8):
        raw = bytearray(line.signature)
        raw[bit // 8] ^= 1 << bit % 8
        note = NOTE.with_signatures([type(line)(line.name, line.key_id, bytes(raw))])
        assert good_cosignatures(note, [WITNESS.key]) == {}
        assert bad_cosignatures(note, [WITNESS.key]) == [WITNESS.key]
    for text in (TEXT.replace("20852163", "20852164"), TEXT + "extension\n"):
        assert WITNESS.key.signed_at(text, line) is None


def test_a_submission_is_read_as_it_is_written():
    found = Submission.parse(EXAMPLE.encode())
    assert (found.old_size, len(found.path)) == (20852014, 4)
    assert Checkpoint.parse(Note.parse(found.text).text).size == 20852163
    assert bytes(found) == EXAMPLE.encode()
    first = Submission(0, (), str(NOTE))
    assert Submission.parse(bytes(first)) == first


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.replace("old 20852014", "old 020852014"),
        lambda body: body.replace("old 20852014", "old -1"),
        lambda body: body.replace("old 20852014", "Old 1"),
        lambda body: body.replace("old 20852014\n", ""),
        lambda body: body.replace("kaw=", "kaw"),
        lambda body: body.replace("kaw=", "kax="),
        lambda body: body.replace("PlRN", ""),
        lambda body: body.split("\n\n")[0],
        lambda body: body.replace(
            "old 20852014\n", "old 20852014\n" + "PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=\n" * MAX_PROOF_LINES
        ),
        lambda body: body.replace("\n", "\r\n"),
        lambda _: "",
    ],
)
def test_what_is_no_submission_is_refused(change):
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
        Submission.parse(change(EXAMPLE).encode())


@pytest.mark.parametrize(
    ("body", "size"), [(b"12\n", 12), (b"0\n", 0), (b"12", 12), (b"-1", None), (b"012\n", None), (b"", None)]
)
def test_the_size_of_a_conflict(body, size):
    assert read_size(body) == size


def test_the_worked_example_of_the_decision():
    """ADR 0100."""
    witness = Cosigner("witness.example/w1", bytes(range(32)))
    root = bytes.fromhex("36642e73c2540ab121e3a6bf9545b0a24982cd830eb13d3cd19de3ce6c021ec1")
    text = str(Checkpoint("log.example/x", 3, root))
    assert str(witness.key) == "witness.example/w1+e75f6532+BAOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
    assert witness.cosign(text, 1779613320).line() == (
        "— witness.example/w1 519lMgAAAABqEr6Il2SUcz9TppuiayoBYHL44qm2TuXY4OWsIOUba4beuNprm40/gZ8iN0CZ8qIjVs87lMCty3UG"
        "w8ycH8mT8roFDA==\n"
    )
