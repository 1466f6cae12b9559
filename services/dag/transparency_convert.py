"""Between the log's types and the messages of ``crp.dag.v1``; no decisions."""

from crp.dag.v1 import transparency_pb2
from crp.dag.v1 import transparency_service_pb2 as pb

from services.dag.convert import timestamp
from services.dag.domain.leaves import leaf_bytes
from services.dag.transparency import Inclusion, SignedHead


def tree_head(head: SignedHead) -> transparency_pb2.TreeHead:
    """Return the head; the single fields are those of the current key."""
    return transparency_pb2.TreeHead(
        origin=head.checkpoint.origin,
        tree_size=head.checkpoint.size,
        root_hash=head.checkpoint.root,
        timestamp=timestamp(head.signed_at),
        checkpoint=str(head.note),
        public_key=head.key.public_key,
        signature=head.note.signatures[0].signature,
        key_id=head.key.key_id,
    )


def heads(head: SignedHead, cosigned: SignedHead | None) -> pb.GetTreeHeadResponse:
    """Return the head of the moment and the one that witnesses saw."""
    return pb.GetTreeHeadResponse(
        tree_head=tree_head(head), cosigned_head=None if cosigned is None else tree_head(cosigned)
    )


def inclusion(found: Inclusion, head: SignedHead) -> pb.GetInclusionProofResponse:
    """Return the proof, the leaf and the head that it leads to."""
    return pb.GetInclusionProofResponse(
        proof=transparency_pb2.InclusionProof(
            leaf_index=found.leaf.leaf_index,
            tree_size=found.size,
            leaf_hash=found.leaf.leaf_hash,
            path_hashes=found.path,
        ),
        leaf=leaf_bytes(found.leaf),
        tree_head=tree_head(head),
    )


def consistency(
    first_size: int, second_size: int, path: tuple[bytes, ...], head: SignedHead
) -> pb.GetConsistencyProofResponse:
    """Return the proof and the larger tree's head."""
    return pb.GetConsistencyProofResponse(
        proof=transparency_pb2.ConsistencyProof(
            first_tree_size=first_size, second_tree_size=second_size, path_hashes=path
        ),
        tree_head=tree_head(head),
    )
