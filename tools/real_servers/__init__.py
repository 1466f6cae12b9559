"""Real servers for tests and benchmarks, without containers: provisioned once, started on loopback, stopped by pid.

``python -m tools.real_servers triton -- COMMAND`` runs a command beside a Triton Inference Server on this checkout's
model repository, ``python -m tools.real_servers neo4j -- COMMAND`` beside a Neo4j, ``milvus``, ``milvus-lite`` or
``llm`` in that place beside those or a small language model. What is installed for them lies in
``.cache/real-servers``. Python packages are pinned by the ``.lock`` files here (``uv pip compile --no-deps
--generate-hashes --no-emit-index-url`` writes them), Neo4j's files by ``neo4j.sha256``.
"""
