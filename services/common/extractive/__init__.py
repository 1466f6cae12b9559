"""The built-in answerer of a deployment that has no language model (ADR 0020).

Shared by the services that write text: the gateway's answers and ERCP's candidates.
"""
