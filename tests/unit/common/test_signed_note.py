"""Signed notes and checkpoints: bytes, and what is refused; signatures are made and checked by another library too."""

import base64
import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from services.common.signed_note import Checkpoint, Note, NoteKey, NoteSigner

NAME = "log.example/0123456789abcdef"
SEED = bytes(range(32))
SIGNER = NoteSigner(NAME, SEED)
ROOT = hashlib.sha256(b"root").digest()
TEXT = f"{NAME}\n20852163\n{base64.b64encode(ROOT).decode()}\n"
OTHER = Ed25519PrivateKey.from_private_bytes(SEED)
PUBLIC = OTHER.public_key().public_bytes_raw()


def note(*signers):
    return Note(TEXT, tuple(signer.sign(TEXT) for signer in signers or (SIGNER,)))


def test_a_checkpoint_is_written_as_c2sp_has_it():
    key_id = hashlib.sha256(NAME.encode() + b"\n\x01" + PUBLIC).digest()[:4]
    line = base64.b64encode(key_id + OTHER.sign(TEXT.encode())).decode()
    assert str(Checkpoint(NAME, 20852163, ROOT)) == TEXT
    assert str(note()) == f"{TEXT}\n— {NAME} {line}\n"
    Ed25519PublicKey.from_public_bytes(PUBLIC).verify(note().signatures[0].signature, TEXT.encode())


def test_what_was_written_is_read_back():
    assert Note.parse(str(note())) == note()
    assert Checkpoint.parse(TEXT) == Checkpoint(NAME, 20852163, ROOT)
    assert Checkpoint.parse(TEXT + "an extension line\n") == Checkpoint(NAME, 20852163, ROOT)
    assert Checkpoint.parse(str(Checkpoint(NAME, 0, ROOT))).size == 0


def test_a_public_key_is_read_in_both_forms():
    assert SIGNER.key == NoteKey(NAME, PUBLIC)
    assert NoteKey.parse(str(SIGNER.key)) == SIGNER.key
    assert NoteKey.parse(f" {SIGNER.key!s}\n") == SIGNER.key
    assert NoteKey.parse(PUBLIC.hex()) == NoteKey("", PUBLIC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name",
        PUBLIC.hex()[:-2],
        PUBLIC.hex() + "00",
        f"{NAME}+00000000+{base64.b64encode(b'x' + PUBLIC).decode()}",
        f"{NAME}+{NoteKey(NAME, PUBLIC).key_id.hex()}+{base64.b64encode(PUBLIC).decode()}",
        f"with space+{NoteKey(NAME, PUBLIC).key_id.hex()}+{base64.b64encode(bytes([1]) + PUBLIC).decode()}",
        f"other+{NoteKey(NAME, PUBLIC).key_id.hex()}+{base64.b64encode(bytes([1]) + PUBLIC).decode()}",
    ],
)
def test_what_is_no_public_key_is_refused(text):
    with pytest.raises(ValueError, match="key"):
        NoteKey.parse(text)


def test_a_note_holds_under_its_own_key_alone():
    stranger = NoteSigner(NAME, bytes(32))
    assert note().holds(SIGNER.key, NAME)
    assert note().holds(NoteKey("", PUBLIC), NAME)
    assert not note().holds(stranger.key, NAME)
    assert not note().holds(SIGNER.key, "log.example/another")
    assert not note().holds(NoteKey("log.example/another", PUBLIC), NAME)
    assert note(stranger, SIGNER).holds(SIGNER.key, NAME)
    assert not Note(TEXT, ()).holds(SIGNER.key, NAME)


def test_every_flipped_bit_of_text_or_signature_is_found():
    good = note()
    for at in range(len(TEXT)):
        changed = TEXT[:at] + chr(ord(TEXT[at]) ^ 1) + TEXT[at + 1 :]
        assert not Note(changed, good.signatures).holds(SIGNER.key, NAME)
    (signature,) = good.signatures
    for bit in range(512):
        raw = bytearray(signature.signature)
        raw[bit // 8] ^= 1 << bit % 8
        wrong = type(signature)(signature.name, signature.key_id, bytes(raw))
        assert not Note(TEXT, (wrong,)).holds(SIGNER.key, NAME)
    short = type(signature)(signature.name, signature.key_id, signature.signature[:63])
    assert not Note(TEXT, (short,)).holds(SIGNER.key, NAME)


@pytest.mark.parametrize(
    "text",
    [
        "",
        TEXT,
        f"{TEXT}\n",
        str(note())[:-1],
        str(note()).replace("— ", "- "),
        str(note()).replace("\n\n", "\n"),
        f"\n\n{str(note()).split(chr(10) * 2)[1]}",
        f"{TEXT}\n— {NAME} !!!!\n",
        f"{TEXT}\n— {NAME} AAAA\n",
        f"{TEXT}\n— a+b AAAAAAAAAAAA\n",
        f"{TEXT}\n— {NAME}\n",
    ],
)
def test_what_is_no_note_is_refused(text):
    with pytest.raises(ValueError, match=r"note|signature"):
        Note.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"{NAME}\n5\n",
        TEXT.replace("20852163", "05"),
        TEXT.replace("20852163", "-5"),
        TEXT.replace("20852163", "\u0665"),
        TEXT.replace("20852163", ""),
        TEXT.replace(NAME, ""),
        TEXT[:-1],
        f"{NAME}\n5\n{base64.b64encode(ROOT[:31]).decode()}\n",
        f"{NAME}\n5\n{base64.b64encode(ROOT).decode()[:-1]}\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(text):
    with pytest.raises(ValueError, match="checkpoint"):
        Checkpoint.parse(text)


def test_a_private_key_is_not_printed():
    assert SEED.hex() not in repr(SIGNER)
    assert repr(SEED) not in repr(SIGNER)
