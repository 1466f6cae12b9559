"""What a sentence is, and what it is to another one: small linear heads over what an encoder makes of it (ADR 0118).

Pure arithmetic over arrays. ``model`` reads the file that holds the weights and scores with it, ``features`` turns
texts into what the heads weigh besides the encoder's vectors. Training (``training/sentence_heads.py``) and serving
use the same two modules, so that a sentence is read in one way.
"""
