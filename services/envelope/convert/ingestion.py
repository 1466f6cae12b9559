"""How documents are read and compared, to the messages of ``crp.ckf.v1``."""

from typing import Final

from crp.ckf.v1 import ingestion_pb2, knowledge_service_pb2

from services.common.progress import Progress
from services.envelope.convert.injection import finding_message
from services.envelope.convert.stored import fact_kind, place_message
from services.envelope.domain.ingestion_report import DocumentReport, LikeFact, OtherSources
from services.envelope.domain.source_diff import DiffFact, Pair, SourceDiff
from services.envelope.inspection_app import LookedAt, Preview, PreviewedFact, VersionName

DEFAULT_DIFF_LIMIT: Final = 100
_Diff = knowledge_service_pb2.DiffSourcesResponse


def report_message(report: DocumentReport) -> ingestion_pb2.IngestionReport:
    """Return how a document was read."""
    others = report.others or OtherSources()
    return ingestion_pb2.IngestionReport(
        media_type=report.media_type,
        title=report.title,
        page_count=report.pages,
        declared_language=report.declared_language,
        fact_count=report.fact_count,
        kinds=[
            ingestion_pb2.KindCount(kind=fact_kind(kind.value), fact_count=count)
            for kind, count in report.kinds.items()
        ],
        fragment_count=report.fragment_count,
        fragment_ratio=report.fragment_ratio,
        fragment_fact_ids=report.fragment_ids,
        languages=[
            ingestion_pb2.LanguageCount(language=language, fact_count=count)
            for language, count in report.languages.items()
        ],
        doubtful_tables=[
            ingestion_pb2.DoubtfulTable(
                caption=one.caption,
                row_count=one.rows,
                column_count=one.columns,
                why=one.why,
                place=place_message(one.place),
            )
            for one in report.doubtful
        ],
        doubtful_table_count=report.doubtful_count,
        hidden_texts=[
            ingestion_pb2.HiddenText(text=one.text, why=one.why, place=place_message(one.place))
            for one in report.hidden
        ],
        hidden_text_count=report.hidden_count,
        suspected_instructions=[
            ingestion_pb2.SuspectedInstruction(
                text=one.text,
                why=one.why,
                hidden=one.is_hidden,
                fact_id=one.fact_id,
                place=place_message(one.place),
                finding=finding_message(one.finding, one.treatment),
            )
            for one in report.suspected
        ],
        suspected_instruction_count=report.suspected_count,
        furniture=report.furniture,
        furniture_count=report.furniture_count,
        compared=report.others is not None,
        duplicates=[_duplicate(one) for one in others.duplicates],
        duplicate_count=others.duplicate_count,
        disagreements=[_disagreeing(one) for one in others.disagreements],
        disagreement_count=others.disagreement_count,
        warnings=report.warnings,
    )


def _duplicate(one: LikeFact) -> ingestion_pb2.DuplicateFact:
    return ingestion_pb2.DuplicateFact(
        fact_id=one.fact_id,
        content=one.content,
        other_fact_id=one.other_fact_id,
        other_source_id=one.other_source_id,
        other_content=one.other_content,
        exact=one.is_exact,
        cosine=one.cosine,
    )


def _disagreeing(one: LikeFact) -> ingestion_pb2.DisagreeingFact:
    value, other_value = one.values or ("", "")
    return ingestion_pb2.DisagreeingFact(
        fact_id=one.fact_id,
        content=one.content,
        other_fact_id=one.other_fact_id,
        other_source_id=one.other_source_id,
        other_content=one.other_content,
        value=value,
        other_value=other_value,
        cosine=one.cosine,
    )


def looked_at(request: knowledge_service_pb2.PreviewIngestionRequest) -> LookedAt:
    """Read a validated PreviewIngestionRequest."""
    return LookedAt(request.uri, request.media_type, request.content)


def preview_response(preview: Preview, next_page_token: str) -> knowledge_service_pb2.PreviewIngestionResponse:
    """Return what an ingestion would do."""
    return knowledge_service_pb2.PreviewIngestionResponse(
        report=report_message(preview.report),
        facts=[_previewed(one) for one in preview.facts],
        next_page_token=next_page_token,
        source_id=preview.source_id,
        facts_created=len(preview.change.written),
        facts_stale=len(preview.change.stale),
        facts_unchanged=len(preview.change.unchanged),
        unchanged=preview.unchanged,
    )


def _previewed(one: PreviewedFact) -> ingestion_pb2.PreviewedFact:
    change = ingestion_pb2.FACT_CHANGE_UNCHANGED
    if one.is_new or one.returns:
        change = ingestion_pb2.FACT_CHANGE_NEW if one.is_new else ingestion_pb2.FACT_CHANGE_RETURNING
    return ingestion_pb2.PreviewedFact(
        fact_id=one.fact_id,
        content=one.draft.content,
        source_location=one.draft.location,
        kind=fact_kind(one.draft.kind.value),
        place=place_message(one.draft.place),
        change=change,
        fragment=one.is_fragment,
    )


def diff_side(side: knowledge_service_pb2.DiffSide) -> VersionName | LookedAt:
    """Read one side of a validated DiffSourcesRequest."""
    if side.HasField("stored"):
        return VersionName(side.stored.source_id, side.stored.version)
    return LookedAt(side.document.name, side.document.media_type, side.document.content)


def diff_response(found: SourceDiff, limit: int) -> knowledge_service_pb2.DiffSourcesResponse:
    """Return what differs, so much of each list."""
    most = limit or DEFAULT_DIFF_LIMIT
    return _Diff(
        added=[_compared(fact) for fact in found.added[:most]],
        added_count=len(found.added),
        removed=[_compared(fact) for fact in found.removed[:most]],
        removed_count=len(found.removed),
        changed=[_pair(pair) for pair in found.changed[:most]],
        changed_count=len(found.changed),
        moved=[_pair(pair) for pair in found.moved[:most]],
        moved_count=len(found.moved),
        unchanged_count=found.unchanged,
        renamed=[
            knowledge_service_pb2.RenamedHeading(before=one.before, after=one.after) for one in found.renamed[:most]
        ],
        renamed_count=len(found.renamed),
    )


def _compared(fact: DiffFact) -> ingestion_pb2.ComparedFact:
    return ingestion_pb2.ComparedFact(
        fact_id=fact.fact_id,
        content=fact.content,
        source_location=fact.location,
        place=place_message(fact.place),
        position=fact.position,
    )


def _pair(pair: Pair) -> ingestion_pb2.FactPair:
    return ingestion_pb2.FactPair(
        before=_compared(pair.before), after=_compared(pair.after), similarity=pair.similarity
    )


def progress_event(progress: Progress) -> knowledge_service_pb2.IngestSourceStreamResponse:
    """Return how far an ingestion is."""
    message = knowledge_service_pb2.IngestionProgress(
        stage=progress.stage,
        facts_done=progress.counted,
        facts_total=progress.total,
        seconds_left=progress.seconds_left,
    )
    return knowledge_service_pb2.IngestSourceStreamResponse(progress=message)
