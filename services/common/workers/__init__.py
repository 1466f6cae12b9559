"""Work in processes of its own, which can be ended: within a limit of time and memory, for callers that may go away.

``pool`` belongs to the serving process, ``child`` to the child. What they say to one another are frames of JSON and
bytes (``frames``): a child that reads hostile documents can send data and nothing that would be run.
"""
