"""Reading documents in this process, counting words for tokens."""

from services.common.documents.cutting import CuttingLimits, read_and_cut

LIMITS = CuttingLimits(max_bytes=1_000_000, max_pages=100, max_chars=1_000_000, max_facts=1_000)


class ThreadReader:
    async def read(self, content, media_type, name):
        return read_and_cut(content, media_type, name, LIMITS, lambda text: len(text.split()))
