"""The built-in answerer of a deployment that has no language model (architecture decision 20).

Shared by the services that write text: the gateway's answers and ERCP's candidates.
"""
