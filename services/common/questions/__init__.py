"""What a question asks, and whether a text answers it: one reading for the answerer, the judge and the gateway.

Pure rules over English words (ADR 0096). A question expects a kind of answer (a number, a date, a name …) about a
thing; a text that holds neither is beside the question. What is in another language is not judged here.
"""
