"""Certificates of endpoints are read once for the process, and proven by."""

import ssl

import httpx

from services.common.adapters.http.chat_provider import HttpChatProvider, openai_endpoint
from services.common.adapters.http.trust import trusted
from services.common.settings.llm import LlmSettings


def test_one_context_proves_every_endpoint():
    context = trusted()
    assert trusted() is context
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.cert_store_stats()["x509_ca"] > 0


def test_a_second_provider_reads_no_certificates(monkeypatch):
    trusted()
    monkeypatch.setattr("httpx._transports.default.create_ssl_context", httpx.create_ssl_context)
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", None)  # who reads some, fails
    endpoint = openai_endpoint(LlmSettings(base_url="http://127.0.0.1:9/v1"))
    for _ in range(2):
        HttpChatProvider(endpoint)
