"""One attempt at an endpoint: what is sent, to whom, and what each answer means."""

import asyncio
import contextlib
import hashlib
import hmac
import re
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pydantic import ValidationError

from services.common.adapters.http.event_endpoint import HttpEventEndpoint, open_event_endpoint, signature
from services.common.adapters.http.retrying import retry_after_s
from services.common.clock import SystemClock
from services.common.ports.event_endpoint import EventBatch, Outcome
from services.common.settings import SettingsError
from services.common.settings.event_sink import EventSinkSettings
from tests.fakes.event_receiver import KEY, OK, Receiver, in_turn

NOW = datetime(2026, 5, 24, 9, 0, 0, tzinfo=UTC)
BATCH = EventBatch("tenant ä", b'{"n":1}\n{"n":2}\n', "application/x-ndjson", 2)


def secret_file(folder, name="signing.key", text=KEY, mode=0o600):
    path = folder / name
    path.write_text(text + "\n")
    path.chmod(mode)
    return path


def settings_for(url, folder, **changes):
    host = url.split("/")[2].rpartition(":")[0]
    values = {
        "url": url,
        "allowed_hosts": (host,),
        "private_hosts": (host,),
        "signing_key_file": secret_file(folder),
        "timeout_s": 5.0,
    }
    return EventSinkSettings(**(values | changes))


@pytest.fixture
async def receiver():
    receiver = await Receiver().listen()
    yield receiver
    await receiver.close()


async def sent(settings, batch=BATCH, **changes):
    endpoint = HttpEventEndpoint(settings, SystemClock(), **changes)
    try:
        return await endpoint.send(batch)
    finally:
        await endpoint.close()


async def test_a_batch_is_posted_signed_and_with_the_token(receiver, tmp_path):
    token = secret_file(tmp_path, "bearer.token", "s3cret-token")
    delivery = await sent(settings_for(receiver.url, tmp_path, bearer_token_file=token))
    assert delivery.outcome is Outcome.ACCEPTED
    (request,) = receiver.requests
    assert request.path == "/events"
    assert request.body == BATCH.body
    assert request.headers["content-type"] == "application/x-ndjson"
    assert request.headers["authorization"] == "Bearer s3cret-token"
    assert request.headers["groundtrail-tenant"] == "tenant%20%C3%A4"
    assert request.headers["groundtrail-events"] == "2"
    assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert request.signed_with(KEY)
    assert not request.signed_with(KEY + "x")


async def test_without_a_token_none_is_sent(receiver, tmp_path):
    await sent(settings_for(receiver.url, tmp_path))
    assert "authorization" not in receiver.requests[0].headers


def test_the_signature_is_over_moment_and_body():
    expected = hmac.new(b"k" * 32, b'1779613200.{"n":1}', hashlib.sha256).hexdigest()
    assert signature(b"k" * 32, 1_779_613_200, b'{"n":1}') == f"t=1779613200,v1={expected}"


def test_the_check_that_the_how_to_gives_takes_ours_and_nothing_else():
    page = Path(__file__).resolve().parents[4] / "docs" / "how-to" / "stream-events.md"
    (block,) = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    scope = {}
    exec(compile(block, page.name, "exec"), scope)
    is_ours, key, body, moment = scope["is_ours"], KEY.encode(), b'{"n":1}\n', 1_779_613_320
    header = signature(key, moment, body)
    assert is_ours(key, header, body, moment)
    assert is_ours(key, header, body, moment + 300)
    wrong = [
        (key, header, body, moment + 301),
        (key, header, body + b" ", moment),
        (key + b"x", header, body, moment),
        (key, header.replace("t=1779613320", "t=1779613321"), body, moment),
        (key, header.replace("v1=", "v2="), body, moment),
        (key, "t=,v1=", body, moment),
        (key, "", body, moment),
    ]
    assert [is_ours(*one) for one in wrong] == [False] * len(wrong)


@pytest.mark.parametrize(
    ("status", "headers", "outcome", "asked"),
    [
        (204, {}, Outcome.ACCEPTED, None),
        (429, {"Retry-After": "7"}, Outcome.THROTTLED, 7.0),
        (503, {"Retry-After": "999999"}, Outcome.THROTTLED, 3600.0),
        (503, {}, Outcome.THROTTLED, None),
        (500, {}, Outcome.REFUSED, None),
        (400, {"Retry-After": "soon"}, Outcome.REFUSED, None),
        (413, {}, Outcome.TOO_LARGE, None),
    ],
)
async def test_what_an_answer_means(tmp_path, status, headers, outcome, asked):
    receiver = await Receiver(in_turn((status, headers))).listen()
    delivery = await sent(settings_for(receiver.url, tmp_path))
    await receiver.close()
    assert (delivery.outcome, delivery.retry_after_s) == (outcome, asked)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(receiver, tmp_path, status):
    elsewhere = await Receiver().listen()
    receiver.answer = in_turn((status, {"Location": elsewhere.url}))
    delivery = await sent(settings_for(receiver.url, tmp_path))
    await elsewhere.close()
    assert delivery.outcome is Outcome.REFUSED
    assert "redirects are not followed" in delivery.problem
    assert elsewhere.requests == []


async def test_an_endpoint_that_is_not_there_or_says_nothing_is_unreachable(receiver, tmp_path):
    gone = await Receiver().listen()
    await gone.close()
    assert (await sent(settings_for(gone.url, tmp_path))).outcome is Outcome.UNREACHABLE
    silence = asyncio.Event()

    async def answer(_request):
        await silence.wait()
        return OK

    receiver.answer = answer
    delivery = await sent(settings_for(receiver.url, tmp_path, timeout_s=0.2))
    silence.set()
    assert delivery.outcome is Outcome.UNREACHABLE
    assert delivery.problem == "no answer within 0.2 s"


async def test_a_name_that_is_none_is_unreachable(tmp_path):
    delivery = await sent(settings_for(f"https://{'x' * 64}.example:443/x", tmp_path))
    assert delivery.outcome is Outcome.UNREACHABLE
    assert delivery.problem.endswith("is no host name")


async def test_an_answer_without_end_costs_the_connection_and_nothing_else(tmp_path):
    async def flood(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(len(BATCH.body))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
        with contextlib.suppress(OSError):
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()

    server = await asyncio.start_server(flood, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    delivery = await sent(settings_for(f"http://127.0.0.1:{port}/x", tmp_path))
    server.close()
    assert delivery.outcome is Outcome.ACCEPTED


async def test_an_answer_that_is_no_http_is_unreachable(tmp_path):
    async def noise(_reader, writer):
        writer.write(b"\x00\xff not http at all\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(noise, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    delivery = await sent(settings_for(f"http://127.0.0.1:{port}/x", tmp_path))
    server.close()
    assert delivery.outcome is Outcome.UNREACHABLE


async def test_a_private_address_that_was_not_allowed_gets_nothing(receiver, tmp_path):
    settings = settings_for(receiver.url.replace("http:", "https:"), tmp_path, private_hosts=())
    delivery = await sent(settings)
    assert delivery.outcome is Outcome.FORBIDDEN
    assert receiver.requests == []


async def test_a_name_that_is_pointed_at_us_later_gets_nothing(receiver, tmp_path):
    """DNS rebinding: every attempt resolves anew, and the judged address is the one that is connected to."""
    settings = settings_for("https://siem.example:8443/x", tmp_path, private_hosts=(), timeout_s=0.5)
    answers = [["8.8.8.8", "127.0.0.1"], ["127.0.0.1"], ["10.0.0.1"], []]
    asked = []

    async def resolver(host, port):
        asked.append((host, port))
        return answers[len(asked) - 1]

    endpoint = HttpEventEndpoint(settings, SystemClock(), resolver)
    outcomes = [(await endpoint.send(BATCH)).outcome for _ in answers]
    await endpoint.close()
    assert outcomes == [Outcome.FORBIDDEN] * 4
    assert asked == [("siem.example", 8443)] * 4
    assert receiver.requests == []


async def test_the_judged_address_is_connected_to_whatever_the_name_says_later(receiver, tmp_path):
    settings = settings_for(f"http://siem.example:{receiver.port}/x", tmp_path)

    async def resolver(_host, _port):
        return ["127.0.0.1"]

    assert (await sent(settings, resolver=resolver)).outcome is Outcome.ACCEPTED
    assert receiver.requests[0].headers["host"] == f"siem.example:{receiver.port}"


def certificate(folder, name):
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(built.public_bytes(serialization.Encoding.PEM) + private)
    return path


async def test_tls_is_verified_against_the_name_and_the_trusted_authority(tmp_path):
    held = certificate(tmp_path, "siem.example")
    other = certificate(tmp_path, "other.example")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(held)
    receiver = await Receiver().listen(ssl=context)

    async def resolver(_host, _port):
        return ["127.0.0.1"]

    async def outcome(host, ca_file):
        settings = settings_for(f"https://{host}:{receiver.port}/x", tmp_path, ca_file=ca_file)
        return (await sent(settings, resolver=resolver)).outcome

    assert await outcome("siem.example", held) is Outcome.ACCEPTED
    assert await outcome("wrong.example", held) is Outcome.UNREACHABLE
    assert await outcome("siem.example", other) is Outcome.UNREACHABLE
    assert await outcome("siem.example", None) is Outcome.UNREACHABLE
    assert len(receiver.requests) == 1
    await receiver.close()


async def test_a_secret_is_read_at_every_attempt(receiver, tmp_path):
    settings = settings_for(receiver.url, tmp_path)
    endpoint = HttpEventEndpoint(settings, SystemClock())
    await endpoint.send(BATCH)
    secret_file(tmp_path, text="another key of at least thirty-two".replace(" ", "-"))
    await endpoint.send(BATCH)
    settings.signing_key_file.unlink()
    lost = await endpoint.send(BATCH)
    await endpoint.close()
    assert receiver.requests[0].signed_with(KEY)
    assert receiver.requests[1].signed_with("another-key-of-at-least-thirty-two")
    assert lost.outcome is Outcome.FORBIDDEN
    assert len(receiver.requests) == 2


async def test_what_is_wrong_can_be_told_without_sending(receiver, tmp_path):
    async def asked(settings, resolver=None):
        endpoint = HttpEventEndpoint(settings, SystemClock(), *([resolver] if resolver else []))
        try:
            return await endpoint.problem()
        finally:
            await endpoint.close()

    async def nobody(_host, _port):
        raise OSError(-2, "Name or service not known")

    assert await asked(settings_for(receiver.url, tmp_path)) == ""
    private = settings_for(receiver.url.replace("http:", "https:"), tmp_path, private_hosts=())
    assert "private address" in await asked(private)
    assert await asked(settings_for(receiver.url, tmp_path), nobody) == "127.0.0.1: Name or service not known"
    lost = settings_for(receiver.url, tmp_path, signing_key_file=tmp_path / "absent.key")
    assert "absent.key: No such file" in await asked(lost)
    assert receiver.requests == []


@pytest.mark.parametrize(
    ("text", "mode", "problem"),
    [
        (KEY, 0o644, "chmod 600"),
        ("too short", 0o600, "at least 32"),
        ("spaces are not part of a key, and this one has many", 0o600, "without spaces"),
        ("", 0o600, "at least 32"),
    ],
)
async def test_a_secret_that_cannot_be_one_stops_the_start(tmp_path, text, mode, problem):
    key = secret_file(tmp_path, text=text, mode=mode)
    settings = settings_for("http://127.0.0.1:1/x", tmp_path, signing_key_file=key)
    secret_file(tmp_path, text=text, mode=mode)
    with pytest.raises(SettingsError) as caught:
        await open_event_endpoint(settings, SystemClock())
    assert problem in caught.value.problems[0]
    assert text[:20] not in caught.value.problems[0] or not text


async def test_certificates_that_cannot_be_read_stop_the_start(tmp_path):
    settings = settings_for("https://siem.example:1/x", tmp_path, ca_file=tmp_path / "absent.pem")
    with pytest.raises(SettingsError, match="CA_FILE"):
        await open_event_endpoint(settings, SystemClock())


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"url": "ftp://siem.example/x"}, "must be https"),
        ({"url": "https:///x"}, "must be https"),
        ({"url": "https://u:p@siem.example/x"}, "no user, password"),
        ({"url": "https://siem.example/x#f"}, "fragment"),
        ({"url": "https://siem.example:0/x"}, "must be https"),
        ({"url": "https://siem.example:port/x"}, "port"),
        ({"url": "https://siem.example/\nx"}, "ASCII"),
        ({"allowed_hosts": ()}, "allowed_hosts must hold its host, siem.example"),
        ({"allowed_hosts": ("siem.example.evil",)}, "allowed_hosts must hold its host"),
        ({"private_hosts": ("other.example",)}, "allowed_hosts must hold other.example too"),
        ({"url": "http://siem.example/x"}, "must be https, but for a loopback"),
        ({"signing_key_file": None}, "needs signing_key_file"),
    ],
)
def test_impossible_settings_are_refused(tmp_path, changes, problem):
    values = {"url": "https://siem.example/x", "allowed_hosts": ("siem.example",), "signing_key_file": tmp_path}
    assert EventSinkSettings(**values).host == "siem.example"
    with pytest.raises(ValidationError, match=problem):
        EventSinkSettings(**(values | changes))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("9" * 400, 3600.0),
        ("Sun, 24 May 2026 09:01:40 GMT", 100.0),
        ("Sun, 24 May 2026 08:00:00 GMT", 0.0),
        ("Sun, 24 May 2099 09:00:00 GMT", 3600.0),
        ("-5", None),
        ("1e3", None),
        ("", None),
        ("٣", None),
        ("Sun, 24 May 99999999999 09:00:00 GMT", None),
        ("Sun, 24 May 2026 09:00:00 +" + "9" * 400, None),
    ],
)
def test_retry_after(text, seconds):
    assert retry_after_s(text, NOW) == seconds
