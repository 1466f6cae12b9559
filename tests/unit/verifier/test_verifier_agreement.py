"""The independent verifier agrees with the product on 500 exports of every pattern, half of them tampered with.

Whole in ``make test-faults``; ``make test`` runs one of forty (ADR 0092). Both get the same file, key and checkpoint,
on their command lines, and a second time with witnesses whose cosignatures are asked for: under the export's own head,
under the one that was kept with it, and under a checkpoint that somebody kept.
"""

import contextlib
import functools
import importlib.util
import io
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from services.cli.app import app
from services.common.cosignature import Cosigner
from services.common.signed_note import Checkpoint, Note
from tests.fakes.recorded_sessions import COSIGNED_AT, RECIPES, WITNESSES, record
from tests.fakes.tampered_exports import KINDS, Altered

FILE = Path(__file__).resolve().parents[3] / "clients" / "verifier" / "groundtrail_verify.py"
CASES = 500
SEEDS = 3
NOBODY = Cosigner("witness.example/nobody", bytes(range(32)))
"""A witness that cosigned nothing."""
UNSEEN = {
    "fact_edited": "what of a fact no analysis was made from",
    "value_edited": "the same, and proofs of sizes that nobody asks about",
    "log_line_edited": "proofs of sizes that nobody asks about",
    "growth_proof_changed": "the same",
    "growth_proof_taken": "the same",
    "member_added": "what is added to the log's line or a fact's envelope",
    "erasure_pretended": "the log's own signer gives an erased event another digest; the session's key shows it",
    "end_cut_off_and_signed": "the log's own signer says that the session is shorter; the log's entries show it",
}
"""Kinds of which some pass with both, each with the reason."""


def loaded():
    spec = importlib.util.spec_from_file_location("groundtrail_verify", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


VERIFIER = loaded()


@dataclass(frozen=True)
class Case:
    """One export; ``tampering`` is empty for an honest one."""

    number: int
    recipe: str
    tampering: str

    def __str__(self):
        return f"{self.number}-{self.recipe}-{self.tampering or 'honest'}"


def cases():
    kinds = list(KINDS)
    for number in range(CASES):
        pair, tampered = divmod(number, 2)
        yield Case(number, RECIPES[pair % len(RECIPES)], kinds[pair % len(kinds)] if tampered else "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("exports")


@functools.cache
def recording(recipe, seed, folder):
    return record(recipe, seed, folder)


def altered(case, folder):
    """The export of a case with what it is checked with."""
    draw = random.Random(case.number)
    held = recording(case.recipe, draw.randrange(SEEDS), folder)
    other = recording(case.recipe, SEEDS, folder)
    lines = list(draw.choice((held.plain, held.full)))
    kept = held.kept[draw.choice(sorted(held.kept))] if draw.random() < 0.7 else None
    key = draw.choice((*held.keys, held.keys[-1]))
    found = Altered(lines, list(other.plain), draw, key, kept, held.master)
    before = found.data()
    if case.tampering:
        KINDS[case.tampering](found)
        changed = (found.data() != before, found.key != key, found.checkpoint != kept)
        assert any(changed), "nothing was tampered with"
    return found


def by_product(arguments):
    done = CliRunner().invoke(app, ["verify", "--offline", *arguments])
    return done.exit_code, json.loads(done.stdout) if done.exit_code != 2 else None


def by_verifier(arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = VERIFIER.main(["export", *arguments])
    return code, json.loads(out.getvalue()) if code != 2 else None


def cosigned(checkpoint, draw):
    """A kept head with lines of witnesses, and the one of them whose line is not its own, if any."""
    try:
        note = Note.parse(checkpoint)
    except ValueError:
        return checkpoint, None
    lines = [one.cosign(note.text, COSIGNED_AT) for one in draw.sample(WITNESSES, draw.randrange(3))]
    forged = draw.randrange(len(lines)) if lines and draw.random() < 0.25 else None
    if forged is None:
        return str(note.with_signatures(lines)), None
    bad = lines[forged]
    lines[forged] = replace(bad, signature=bad.signature[:20] + bytes([bad.signature[20] ^ 1]) + bad.signature[21:])
    return str(note.with_signatures(lines)), bad.name


def asking_witnesses(case, export, arguments, folder):
    """What else both are given, and the size of a head that an asked witness did not cosign although a line says so."""
    draw = random.Random(f"witnesses {case.number}")
    asked = draw.sample((*WITNESSES, NOBODY), draw.randrange(1, 4))
    arguments = [*arguments, *(part for one in asked for part in ("--witness", str(one.key)))]
    if draw.random() < 0.7:
        arguments += ["--min-cosignatures", str(draw.randrange(len(asked) + 1))]
    if export.checkpoint is None:
        return arguments, None
    kept, forger = cosigned(export.checkpoint, draw)
    (folder / "kept").write_bytes(kept.encode())
    size = Checkpoint.parse(Note.parse(kept).text).size if forger in {one.name for one in asked} else None
    return arguments, size


@pytest.mark.tenth(share=120)
@pytest.mark.parametrize("case", list(cases()), ids=str)
def test_both_say_the_same(case, folder):
    export = altered(case, folder)
    (folder / "export.ndjson").write_bytes(export.data())
    arguments = [str(folder / "export.ndjson"), "--public-key", export.key, "--json"]
    if export.checkpoint is not None:
        (folder / "kept").write_bytes(export.checkpoint.encode())
        arguments += ["--checkpoint", str(folder / "kept")]
    agreed(case, arguments)
    arguments, forged = asking_witnesses(case, export, arguments, folder)
    product = agreed(case, arguments)
    if forged is not None and not case.tampering and product["tree_size"] >= forged:
        assert product["verdict"] == "BROKEN"


def has_objects(path):
    """Whether any line of a file is an object with members: of an export there is something left then."""
    for line in Path(path).read_bytes().splitlines():
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict) and value:
                return True
    return False


def agreed(case, arguments):
    """Ask both; return what the product says, ``None`` when it cannot begin."""
    code, product = by_product(arguments)
    own_code, own = by_verifier(arguments)
    if product is None and (case.tampering == "kept_head_is_no_checkpoint" or not has_objects(arguments[0])):
        # Wrong input to the product, where the verifier knows no difference.
        assert (own_code, own["verdict"]) == (3, "BROKEN")
        return None
    assert (own_code, own and own["verdict"]) == (code, product and product["verdict"]), (product, own)
    if product is None:
        return None
    shared = ("session_id", "origin", "tree_size", "root")
    assert [own[name] for name in shared] == [product[name] for name in shared]
    if product["verdict"] != "BROKEN":
        counts = ("events", "windows", "analyses", "witnessed_size")
        assert [own[name] for name in counts] == [product[name] for name in counts]
        assert own["cosigned_by"] == sorted(name.partition(" at ")[0] for name in product["cosigned_by"])
        assert len(own["notes"]) == len(product["notes"])
        assert not case.tampering or case.tampering in UNSEEN or product["verdict"] == "INCOMPLETE"
    elif "--witness" not in arguments:
        assert case.tampering or case.recipe == "broken"
    if product["verdict"] == "BROKEN":
        assert own["fault"]["line"] == product["fault"]["line"], (own, product)
        if not own["fault"]["line"]:
            assert own["fault"]["record_kind"] == product["fault"]["record_kind"]
    return product


def test_there_are_as_many_cases_as_it_says():
    every = list(cases())
    assert len(every) == 500
    assert sum(bool(case.tampering) for case in every) == 250
    assert min(Counter(case.recipe for case in every).values()) > 25
    assert min(Counter(case.tampering for case in every if case.tampering).values()) >= 5
    assert len(KINDS) > 40
