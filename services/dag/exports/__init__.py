"""What leaves a session for other people's tools: audit events as OCSF, the DAG as DOT, Mermaid, JSON Graph and a tree.

Pure: records or messages in, text or plain values out. Whatever a store or a server may hold is written so that it
cannot be read as markup, code or a terminal's control sequence (ADR 0057).
"""
