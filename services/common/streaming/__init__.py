"""A text that is still being written: when it must stop, and how much of it may leave (Director-AI page, D5).

Pure and without a clock, so that the guard's stream oversight and a gateway that holds text back decide alike.
"""
