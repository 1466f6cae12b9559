"""Which addresses an operator's endpoint may have."""

import pytest

from services.common.adapters.http.addresses import refusal


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "8.8.8.8"])
def test_public_addresses_are_talked_to(address):
    assert refusal([address], private_allowed=False, plaintext=False) == ""


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.9.9.9",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "::1",
        "fd00::1",
        "::ffff:10.0.0.1",
        "2002:0a00:0001::",
        "64:ff9b::10.0.0.1",
    ],
)
def test_private_addresses_need_the_operators_word(address):
    assert "PRIVATE_HOSTS" in refusal([address], private_allowed=False, plaintext=False)
    assert refusal([address], private_allowed=True, plaintext=False) == ""


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "fe80::1",
        "fe80::1%eth0",
        "224.0.0.1",
        "ff02::1",
        "0.0.0.0",
        "::",
        "255.255.255.255",
        "240.0.0.1",
        "100.64.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::169.254.169.254",
    ],
)
def test_some_addresses_are_never_talked_to(address):
    assert "never talked to" in refusal([address], private_allowed=True, plaintext=False)


def test_one_bad_address_condemns_all():
    assert "10.0.0.1" in refusal(["8.8.8.8", "10.0.0.1"], private_allowed=False, plaintext=False)
    assert refusal([], private_allowed=True, plaintext=False) == "the host has no address"


def test_plain_http_goes_to_loopback_alone():
    assert refusal(["127.0.0.1"], private_allowed=True, plaintext=True) == ""
    assert refusal(["::ffff:127.0.0.1"], private_allowed=True, plaintext=True) == ""
    assert "https only" in refusal(["10.0.0.1"], private_allowed=True, plaintext=True)
    assert "https only" in refusal(["8.8.8.8"], private_allowed=True, plaintext=True)
