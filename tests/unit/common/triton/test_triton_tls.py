"""TLS to Triton: the certificate is checked against the roots of the settings."""

import datetime as dt
import ipaddress

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from services.common.adapters.triton.backend import open_triton_backend
from services.common.errors import StartupError
from services.common.settings.inference import InferenceSettings
from services.common.settings.triton import TritonSettings
from tests.fakes.kserve_server import FakeKserve, expected_outputs, serving, tiny_repository


def self_signed() -> tuple[bytes, bytes]:
    """Return key and certificate for 127.0.0.1, PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "triton.test")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return pem, certificate.public_bytes(serialization.Encoding.PEM)


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "another-authority"])
async def test_only_a_certificate_of_the_named_roots_is_accepted(tmp_path, trusted):
    key, certificate = self_signed()
    roots = tmp_path / "roots.pem"
    roots.write_bytes(certificate if trusted else self_signed()[1])
    repository = tiny_repository(tmp_path / "models")
    async with serving(FakeKserve(), credentials=grpc.ssl_server_credentials([(key, certificate)])) as target:
        connection = TritonSettings(target=target, tls_root_certificates=roots, start_timeout_s=5.0 if trusted else 0.5)
        opening = open_triton_backend(InferenceSettings(triton=connection), repository, repository.entry("tiny"))
        if not trusted:
            with pytest.raises(StartupError, match="was not ready"):
                await opening
            return
        backend = await opening
        ((score, _),) = await backend.run([(1, 2, 3)])
        assert score.tolist() == expected_outputs((1, 2, 3))[0].tolist()
        await backend.close()
