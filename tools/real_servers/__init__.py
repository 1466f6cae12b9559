"""Real servers for tests and benchmarks, without containers: provisioned once, started on loopback, stopped by pid.

``python -m tools.real_servers triton -- COMMAND`` runs a command beside a Triton Inference Server on this checkout's
model repository. What is installed for it lies in ``.cache/real-servers`` and is pinned by the ``.lock`` files here
(``uv pip compile --no-deps --generate-hashes --no-emit-index-url`` writes them).
"""
