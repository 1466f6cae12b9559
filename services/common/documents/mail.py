"""E-mails (RFC 5322, MIME): who wrote what to whom and when, the text, the quoted mails below it.

Kept: the heads that a reader sees, the HTML part where there is one (it has the tables), else the plain one; quoted
mails, told as whose words they are; forwarded mails. Hidden: what the HTML part hides. Not read: attachments.
"""

import email
import email.policy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from email.header import decode_header
from email.message import Message
from email.utils import parseaddr, parsedate_to_datetime
from typing import Final

from services.common.document_kinds import MediaType
from services.common.documents.document import Block, BlockKind, Document, HiddenText, Place, place_of_lines
from services.common.documents.html import read_html
from services.common.documents.limits import require_at_most
from services.common.documents.mail_words import MailWords, led, with_edges
from services.common.documents.plain import read_text
from services.common.documents.refusals import refusing_damage, unsupported_media
from services.common.documents.wording import collapse

_KIND: Final = "an e-mail"
MAX_PARTS: Final = 200
"""Boundaries of parts: the parser compares each line with all that are open."""
MAX_FORWARDED: Final = 5
MAX_HEAD_BYTES: Final = 1 << 20
_HEADS: Final = (("From", "of"), ("Date", "sent on"), ("To", "to"), ("Cc", "copied to"))
_BOUNDARY: Final = re.compile(rb"boundary\s*=", re.IGNORECASE)
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_LINES: Final = re.compile(r"lines? (\d+)(?:-(\d+))?")
_REPLY: Final = re.compile(r"(?:re|aw|fwd?|wg|sv|vs|ref|rif)\s*(?:\[\d+\])?:\s*", re.IGNORECASE)
_FLOWED: Final = re.compile(r"(?<=\S) \n(?!>)")
_MAX_HEAD_CHARS: Final = 2_000


@dataclass(slots=True)
class _Mail:
    """What a mail consists of: plain and HTML texts, names of attachments, forwarded mails."""

    plain: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    attached: list[str] = field(default_factory=list)
    forwarded: list[Message] = field(default_factory=list)
    repaired: bool = False


def read_mail(content: bytes) -> Document:
    """Parse an e-mail.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: it has none of the heads of a mail.
        LimitExceededError: MESSAGE_TOO_LARGE: too many parts, or heads without end.
    """
    require_at_most("parts", len(_BOUNDARY.findall(content)), MAX_PARTS)
    end = _HEAD_END.search(content)
    require_at_most("bytes of heads", end.start() if end else len(content), MAX_HEAD_BYTES)
    with refusing_damage(_KIND):
        # compat32 keeps heads as they are written: the newer policies parse them, in a time of 2 to their length.
        message = email.message_from_bytes(content, policy=email.policy.compat32)
        if not any(message.get(name) for name in ("From", "To", "Subject", "Date", "Message-ID")):
            raise unsupported_media("the document is called an e-mail and has none of the heads of one")
        return _document(message)


def _document(message: Message) -> Document:
    blocks: list[Block] = []
    hidden: list[HiddenText] = []
    furniture: list[str] = []
    warnings: list[str] = []
    _read(message, blocks, hidden, furniture, warnings, 0)
    properties = {"author": _head(message, "From"), "date": _date(message), "subject": _head(message, "Subject")}
    return Document(
        MediaType.EML.value,
        _REPLY.sub("", _head(message, "Subject")),
        tuple(blocks),
        tuple(dict.fromkeys(warnings)),
        tuple(hidden),
        tuple(dict.fromkeys(furniture)),
        properties={name: value for name, value in properties.items() if value},
    )


def _read(
    message: Message,
    blocks: list[Block],
    hidden: list[HiddenText],
    furniture: list[str],
    warnings: list[str],
    depth: int,
) -> None:
    mail = _Mail()
    _gather(message, mail)
    where = "forwarded mail, " * depth
    subject = _head(message, "Subject")
    if subject:
        blocks.append(Block(BlockKind.HEADING, subject, min(1 + depth, 6), Place(path=f"{where}subject")))
    said = _sent(message)
    if said:
        blocks.append(Block(BlockKind.LIST_ITEM, said, place=Place(path=f"{where}heads")))
    words = MailWords(parseaddr(_head(message, "From"))[0])
    for text in mail.html or mail.plain:
        if mail.html:
            body = read_html(with_edges(text))
            hidden.extend(body.hidden)
            furniture.extend(body.furniture)
        read = words.blocks(body.blocks) if mail.html else _plain_blocks(text, words)
        blocks.extend(_placed(read, f"{where}body"))
    furniture.extend(words.furniture)
    warnings.extend(f"attachment {name} was not read: bring it by itself" for name in mail.attached)
    if mail.repaired:
        warnings.append("characters that are none in the declared charset were replaced")
    for inner in mail.forwarded:
        require_at_most("forwarded mails inside of each other", depth + 1, MAX_FORWARDED)
        _read(inner, blocks, hidden, furniture, warnings, depth + 1)


def _gather(message: Message, mail: _Mail) -> None:
    stack = [message]
    while stack:
        part = stack.pop()
        kind = part.get_content_type()
        payload = part.get_payload()
        if kind == "message/rfc822" and isinstance(payload, list):
            mail.forwarded.extend(one for one in payload if isinstance(one, Message))
        elif isinstance(payload, list):
            stack.extend(one for one in reversed(payload) if isinstance(one, Message))
        elif part.get_content_disposition() == "attachment" or not kind.startswith("text/"):
            name = _decoded(part.get_filename() or "")
            if part.get_content_disposition() == "attachment" or name:
                mail.attached.append(name or kind)
        else:
            text = _text(part, mail)
            if text.strip():
                (mail.html if kind == "text/html" else mail.plain).append(text)


def _text(part: Message, mail: _Mail) -> str:
    raw = part.get_payload(decode=True)
    if not isinstance(raw, bytes):
        return ""
    charset = part.get_content_charset() or "utf-8"
    try:
        text = raw.decode(charset)
    except (UnicodeDecodeError, LookupError):
        text = raw.decode("utf-8", "replace")
        mail.repaired = True
    normal = text.replace("\r\n", "\n")
    return _FLOWED.sub(" ", normal) if part.get_param("format") == "flowed" else normal


def _decoded(written: str) -> str:
    """Return a head's encoded words (RFC 2047) as text."""
    parts = []
    for text, charset in decode_header(written[:_MAX_HEAD_CHARS]):
        if isinstance(text, str):
            parts.append(text)
            continue
        try:
            parts.append(text.decode(charset or "utf-8", "replace"))
        except LookupError:
            parts.append(text.decode("utf-8", "replace"))
    return collapse("".join(parts))


def _head(message: Message, name: str) -> str:
    return _decoded(str(message.get(name, "")))


def _sent(message: Message) -> str:
    """Return what the heads say, as a sentence: a bare date would be taken for that of what the mail is about."""
    said = ", ".join(f"{word} {value}" for name, word in _HEADS if (value := _head(message, name)))
    return f"E-mail {said.rstrip('.')}." if said else ""


def _date(message: Message) -> str:
    try:
        return parsedate_to_datetime(_head(message, "Date")).date().isoformat()
    except (TypeError, ValueError, IndexError):
        return ""


def _plain_blocks(text: str, words: MailWords) -> Iterator[Block]:
    """Yield the blocks of a plain text with the lead-in of quoted words; places are its own lines."""
    kept = list(words.lines(text))
    lines: list[str] = []
    numbers: list[int] = [0]
    leads: list[str] = [""]
    for line, lead in kept:
        lines.append(line.text)
        numbers.append(line.number)
        leads.append(lead)
    for block in read_text("\n".join(lines)).blocks:
        match = _LINES.fullmatch(block.place.path)
        lead = leads[min(int(match[1]), len(leads) - 1)] if match else ""
        table = block.table
        if table is not None:
            table = replace(table, places=tuple(_in_mail(place, numbers) for place in table.places))
        yield from led(replace(block, place=_in_mail(block.place, numbers), table=table), lead)


def _in_mail(place: Place, numbers: list[int]) -> Place:
    """Return the place of lines that were kept as that of the lines of the mail."""
    match = _LINES.fullmatch(place.path)
    if match is None:
        return place
    first, last = (numbers[min(int(one), len(numbers) - 1)] for one in (match[1], match[2] or match[1]))
    return replace(place, path=place_of_lines(first, last).path)


def _placed(blocks: tuple[Block, ...] | Iterator[Block], where: str) -> Iterator[Block]:
    for block in blocks:
        path = ", ".join(part for part in (where, block.place.path) if part)
        yield replace(block, place=replace(block.place, path=path))
