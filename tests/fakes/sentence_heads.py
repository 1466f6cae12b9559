"""Heads by a table: what tests say that a sentence or a pair is."""

from services.common.ports.sentence_heads import HeadsReading, Sighting

KINDS = ("order", "justification", "condition", "definition", "assumption", "result")
RELATIONS = ("justifies", "contradicts", "depends_on", "restates")
YES, OPEN, NO = Sighting(0.97, verdict=True), Sighting(0.5, verdict=None), Sighting(0.01, verdict=False)


class TableHeads:
    """Says yes to what stands in the tables and ``otherwise`` to everything else. Keeps what it was asked.

    Args:
        kinds: by a sentence, what it is.
        relations: by a pair of sentences, what the second is to the first.
        otherwise: of all other sentences and pairs.
    """

    fingerprint = "sentence-heads@table+sha256:0000000000000000"

    def __init__(self, kinds=(), relations=(), otherwise=NO):
        self.kinds, self.relations, self.otherwise = dict(kinds), dict(relations), otherwise
        self.batches = []

    async def read(self, sentences, pairs):
        self.batches.append((list(sentences), list(pairs)))
        return HeadsReading(
            tuple({kind: self._of(kind, self.kinds.get(each, ())) for kind in KINDS} for each in sentences),
            tuple(
                {name: self._of(name, self.relations.get((sentences[one], sentences[other]), ())) for name in RELATIONS}
                for one, other in pairs
            ),
        )

    def _of(self, name, said):
        return YES if name in said else self.otherwise
