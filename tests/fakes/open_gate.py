"""A gate where everybody is the administrator of one tenant, or whom an authenticator says."""

from services.common.rpc.authentication import LocalAuthenticator
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings import Settings


def open_gate(authenticator=None, **settings):
    return CredentialGate(authenticator or LocalAuthenticator(), Settings(**settings))
