"""The dag service: sessions, the window DAG, the HMAC chain and the audit trail (CRP-SPEC-004)."""
