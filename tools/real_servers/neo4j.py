"""Neo4j Community on this machine's Java, from the artefacts that Neo4j publishes on Maven Central.

``neo4j.pom.xml`` names the version, ``neo4j.sha256`` every file of it; a file more, less or other is refused. To take
another version, change it in the former and write the latter anew:

    mvn -f tools/real_servers/neo4j.pom.xml dependency:copy-dependencies -DoutputDirectory=DIR
    (cd DIR && sha256sum *.jar) > tools/real_servers/neo4j.sha256
"""

import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from tools.real_servers.processes import ServerProcess, free_ports
from tools.real_servers.provisioning import LOCKS, RealServerError, provisioned, run_installer, supported

POM: Final = "neo4j.pom.xml"
DIGESTS: Final = "neo4j.sha256"
VARIABLE: Final = "GROUNDTRAIL_TEST_NEO4J_URI"
"""Names a Neo4j whose data the tests may delete, ``bolt://host:port``."""
PASSWORD_VARIABLE: Final = "GROUNDTRAIL_TEST_NEO4J_PASSWORD"  # noqa: S105 - the variable, not a password
USER: Final = "neo4j"
DATABASE: Final = "neo4j"
START_DEADLINE_S: Final = 120.0
READY_ANSWER_S: Final = 5.0
_INITIAL_PASSWORD: Final = "neo4j"  # noqa: S105 - what every new Neo4j has, until it is changed at once
_CHANGED: Final = "password-changed"
_ENTRY_POINT: Final = "org.neo4j.server.CommunityEntryPoint"
_OPENED: Final = ("java.nio", "java.io", "sun.nio.ch")
"""Packages of the JDK that Neo4j's own start script opens to it."""
_CONFIGURATION: Final = """\
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=128m
dbms.usage_report.enabled=false
"""


@dataclass(frozen=True, slots=True)
class Neo4jHome:
    """One server's data, configuration and credentials; it can be started again after its end.

    Attributes:
        folder: holds all that it writes.
        port: of its Bolt endpoint on loopback.
        password: of the user ``neo4j``.
    """

    folder: Path
    port: int
    password: str

    @property
    def uri(self) -> str:
        """Where it listens."""
        return f"bolt://127.0.0.1:{self.port}"

    @property
    def variables(self) -> dict[str, str]:
        """What tells the tests of it."""
        return {VARIABLE: self.uri, PASSWORD_VARIABLE: self.password}


def name() -> str:
    """Return what results call it."""
    return f"Neo4j Community {version()}"


def version() -> str:
    """Return the pinned version."""
    (found,) = re.findall(r" neo4j-([\d.]+)\.jar$", (LOCKS / DIGESTS).read_text(encoding="utf-8"), re.MULTILINE)
    return str(found)


def missing() -> str | None:
    """Return why the recipe does not fit this machine, or ``None`` when it does."""
    absent = [program for program in ("java", "mvn") if shutil.which(program) is None]
    return supported() or (f"{' and '.join(absent)} not found; install a JDK 17 and Maven" if absent else None)


def installation() -> Path:
    """Return the folder of the server's files, installed now unless it is there.

    Raises:
        RealServerError: it cannot be installed, is not what the digests say, or does not fit this machine.
    """
    reason = missing()
    if reason:
        raise RealServerError(reason)
    return provisioned("neo4j", DIGESTS, _copy)


def new_home(folder: Path) -> Neo4jHome:
    """Lay out an empty server in a folder."""
    home = Neo4jHome(folder, free_ports(1)[0], secrets.token_urlsafe(18))
    (folder / "conf").mkdir(parents=True)
    (folder / "conf/neo4j.conf").write_text(_CONFIGURATION.format(port=home.port), encoding="utf-8")
    return home


def start(home: Neo4jHome) -> ServerProcess:
    """Start a server on its data and return when it answers; the caller ends it.

    Raises:
        RealServerError: it did not get ready; with the end of its log.
    """
    process = ServerProcess(
        _command(installation(), home),
        environment={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home.folder)},
        log=home.folder / "neo4j.log",
    )
    process.wait_until(partial(_open_up, home), START_DEADLINE_S)
    return process


@contextmanager
def running() -> Iterator[tuple[Neo4jHome, ServerProcess]]:
    """Serve an empty database on loopback until the block ends, then delete it.

    Raises:
        RealServerError: it cannot be installed or started.
    """
    with tempfile.TemporaryDirectory(prefix="groundtrail-neo4j-") as folder:
        home = new_home(Path(folder))
        process = start(home)
        try:
            yield home, process
        finally:
            process.stop()


def is_ready(uri: str, password: str) -> bool:
    """Whether a Neo4j answers there under this password."""
    return _answers(uri, password, DATABASE, "RETURN 1")


def _open_up(home: Neo4jHome) -> bool:
    """Change the first password, once; say whether the server answers under ours."""
    changed = home.folder / _CHANGED
    if not changed.exists():
        statement = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
        if not _answers(home.uri, _INITIAL_PASSWORD, "system", statement, old=_INITIAL_PASSWORD, new=home.password):
            return False
        changed.touch()
    return is_ready(home.uri, home.password)


def _answers(uri: str, password: str, database: str, statement: str, **parameters: str) -> bool:
    with GraphDatabase.driver(
        uri,
        auth=(USER, password),
        max_transaction_retry_time=0,
        connection_timeout=READY_ANSWER_S,
        connection_acquisition_timeout=READY_ANSWER_S,
    ) as driver:
        try:
            with driver.session(database=database) as session:
                session.run(statement, parameters).consume()
        except (DriverError, Neo4jError):
            return False
        return True


def _command(files: Path, home: Neo4jHome) -> list[str]:
    return [
        shutil.which("java") or "java",
        "-Xms256m",
        "-Xmx512m",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
        "-cp",
        str(files / "*"),
        _ENTRY_POINT,
        f"--home-dir={home.folder}",
        f"--config-dir={home.folder / 'conf'}",
    ]


def _copy(folder: Path, pins: Path) -> None:
    """Have Maven copy the artefacts, from wherever its own settings say, and compare each with its digest."""
    run_installer(
        [
            *("mvn", "--batch-mode", "--quiet", "--file", str(pins.with_name(POM))),
            *("dependency:copy-dependencies", f"-DoutputDirectory={folder}"),
        ]
    )
    pinned = {file: digest for digest, file in map(str.split, pins.read_text(encoding="utf-8").splitlines())}
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    wrong = sorted(file for file in pinned.keys() | found.keys() if pinned.get(file) != found.get(file))
    if wrong:
        raise RealServerError(f"Neo4j is not what {pins.name} says: {', '.join(wrong[:5])}; {len(wrong)} files differ")
