"""Pages with tables that only white holds together, as people set them, and the tables that a person reads there.

``OPEN`` are the pages that the reader may be made with; ``KEPT`` were written with them and read once the reader was
final. Each draws itself and tells its tables; two of either half are columns of prose and hold none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from tests.fakes.pdf import drawn, wrapped, write

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Page:
    """A page: what draws it, and the grids of its tables, an empty cell as ``""``."""

    draw: Callable[[Canvas], None]
    grids: tuple[tuple[tuple[str, ...], ...], ...] = ()

    def content(self) -> bytes:
        """Return the file."""
        return drawn(self.draw)


@dataclass(frozen=True, slots=True)
class Look:
    """How a table is set.

    Attributes:
        columns: place and alignment of each: left, right, middle, or ``.`` for the decimal point.
        lead: from line to line of a cell.
        gap: added between rows.
        last: numbers stand on the last line of their row.
    """

    columns: tuple[tuple[float, str], ...]
    font: str = "Helvetica"
    bold: str = "Helvetica-Bold"
    size: float = 9.0
    lead: float = 11.0
    gap: float = 5.0
    last: bool = False
    heads: int = 1
    plain: bool = False
    later: frozenset[int] = field(default_factory=frozenset)


def table(canvas: Canvas, y: float, look: Look, rows: Rows) -> float:
    """Draw rows, whose cells may have several lines, from the top; returns where the next would stand."""
    for number, row in enumerate(rows):
        font = look.bold if number < look.heads and not look.plain else look.font
        deepest = max(cell.count("\n") for cell in row)
        for at, cell in enumerate(row):
            lines = cell.split("\n")
            low = number < look.heads or (look.last and at in look.later)
            down = deepest - len(lines) + 1 if low else 0
            for line, text in enumerate(lines):
                _cell(canvas, look, at, y - (line + down) * look.lead, text, font)
        y -= (deepest + 1) * look.lead + look.gap
    return y


def _cell(canvas: Canvas, look: Look, at: int, y: float, text: str, font: str) -> None:
    x, align = look.columns[at]
    canvas.setFont(font, look.size)
    if align == "right":
        canvas.drawRightString(x, y, text)
    elif align == "middle":
        canvas.drawCentredString(x, y, text)
    elif align == "." and text[:1] in "-0123456789":
        whole = text.partition(".")[0]
        canvas.drawString(x - stringWidth(whole, font, look.size), y, text)
    elif align == ".":
        canvas.drawRightString(x, y, text)
    else:
        canvas.drawString(x, y, text)


def groups(canvas: Canvas, y: float, look: Look, names: Sequence[tuple[float, str]]) -> float:
    """Draw names of several columns, each around a middle; returns where the next line would stand."""
    for x, name in names:
        canvas.setFont(look.bold if not look.plain else look.font, look.size)
        canvas.drawCentredString(x, y, name)
    return y - look.lead


def prose(canvas: Canvas, x: float, y: float, text: str, width: float, look: Look | None = None) -> float:
    """Draw a paragraph and return where the next would stand."""
    font, size = (look.font, look.size) if look else ("Helvetica", 9.0)
    return write(canvas, x, y, wrapped(text, width, font, size), font=font, size=size, lead=size * 1.25) - 5


def grid(rows: Rows) -> tuple[tuple[str, ...], ...]:
    """Return rows as a person reads them: lines of a cell are one text."""
    return tuple(tuple(cell.replace("\n", " ") for cell in row) for row in rows)


def _title(canvas: Canvas, text: str, font: str = "Helvetica-Bold") -> None:
    write(canvas, 60, 790, [text], font=font, size=16)


VOTES = (
    ("Proposal", "For", "Against", "Result"),
    ("Bicycle shed behind the east wing", "41", "7", "carried"),
    ("Gravel for the yard", "19", "29", "lost"),
    ("Card reader at the gate", "24", "24", "lost (tie)"),
    ("Second recycling bin", "46", "2", "carried"),
)


def _votes(canvas: Canvas) -> None:
    _title(canvas, "Assembly of the Marlpit House Association")
    prose(
        canvas,
        60,
        760,
        "The assembly met on 4 March in the canteen. Of 52 votes 48 were present or given by proxy.",
        470,
    )
    look = Look(((60, "left"), (330, "right"), (400, "right"), (404, "left")), "Times-Roman", "Times-Bold", 11, 13, 5)
    y = table(canvas, 720, look, VOTES)
    prose(
        canvas, 60, y - 6, "A tie counts as a refusal. The shed is built before 30 June by the caretaker's firm.", 470
    )


STATEMENT = (
    ("Date", "Details", "Reference", "Paid out", "Balance"),
    ("02 May", "Opening balance", "", "", "812.40"),
    ("03 May", "Card payment\nHensley Garden Centre", "C-31", "46.10", "766.30"),
    ("06 May", "Standing order\nStorage unit 17, Dock Road\nRef. ST-17-MAY", "S-08", "95.00", "671.30"),
    ("09 May", "Cash machine, Long Row", "A-02", "50.00", "621.30"),
    ("12 May", "Direct debit\nCrown Water", "D-11", "28.65", "592.65"),
    ("19 May", "Card payment abroad\nLibreria Ponte, Lucca", "C-32", "31.20", "561.45"),
)


def _statement(canvas: Canvas) -> None:
    _title(canvas, "Statement of account")
    prose(canvas, 60, 760, "No overdraft is arranged for this account. All amounts are in pounds.", 470)
    columns = ((60, "left"), (120, "left"), (320, "left"), (440, "right"), (520, "right"))
    table(canvas, 720, Look(columns, gap=6, last=True, later=frozenset({3, 4})), STATEMENT)


ITEMS = (
    ("No.", "Work", "Quantity", "Unit", "Price", "Amount"),
    ("1", "Old fence taken down and carried away, posts\ndug out", "38", "m", "6.50", "247.00"),
    ("2", "Larch fence, 1.60 m high, with posts every\ntwo metres", "38", "m", "54.00", "2,052.00"),
    ("3", "Gate with lock", "1", "pc", "310.00", "310.00"),
    ("4", "Two coats of oil", "122", "m2", "3.20", "390.40"),
    ("5", "Travel", "", "", "", "85.00"),
)
SUMS = (
    ("Total net", "3,084.40"),
    ("Less discount of the spring offer, 5 %", "-154.22"),
    ("Net after discount", "2,930.18"),
    ("Value added tax 19 %", "556.73"),
    ("To pay", "3,486.91"),
)


def _items(canvas: Canvas) -> None:
    _title(canvas, "Invoice 5521")
    prose(canvas, 60, 760, "For the fence along Mill Lane we charge as agreed on 9 February:", 470)
    columns = ((60, "left"), (90, "left"), (360, "right"), (368, "left"), (450, "right"), (530, "right"))
    y = table(canvas, 725, Look(columns, gap=5), ITEMS)
    y = table(canvas, y - 12, Look(((300, "left"), (530, "right")), gap=4, heads=0), SUMS)
    prose(
        canvas, 60, y - 14, "Please pay within 14 days. The larch may grey in the first year; this is no defect.", 470
    )


HARVEST = (
    ("Orchard", "2023", "2024", "2025", "2024", "2025"),
    ("Hill side", "12.4", "9.85", "14.1", "-2.55", "4.25"),
    ("Lower meadow", "101.0", "88.2", "97.64", "-12.8", "9.44"),
    ("Old wall", "7.25", "7.3", "..", "0.05", ".."),
    ("Brook field", "55.5", "61.75", "58.0", "6.25", "-3.75"),
    ("Nursery", "3.1", "2.95", "4.4", "-0.15", "1.45"),
)
HARVEST_GRID = (("Orchard", "Harvest (t)", "Harvest (t)", "Harvest (t)", "Change (t)", "Change (t)"), *HARVEST)


def _harvest(canvas: Canvas) -> None:
    _title(canvas, "Harvest of apples", "Times-Bold")
    columns = ((60, "left"), (210, "."), (270, "."), (330, "."), (410, "."), (470, "."))
    look = Look(columns, "Times-Roman", "Times-Bold", 10, 12, 3)
    y = groups(canvas, 750, look, ((275, "Harvest (t)"), (447, "Change (t)")))
    y = table(canvas, y, look, HARVEST)
    prose(canvas, 60, y - 12, "Two dots mean that nothing was weighed. The old wall was felled in January 2025.", 470)


SHIFTS = (
    ("Day", "Crew", "From", "To", "Hours"),
    ("3 June", "Adair, Bloom", "7:00", "15:30", "16.0"),
    ("4 June", "Adair, Bloom,\nCole", "7:00", "16:00", "25.5"),
    ("5 June", "Bloom, Cole", "7:00", "11:30", "9.0"),
    ("6 June", "Adair, Cole", "8:00", "16:30", "16.0"),
)
REMARK = (
    "A storm stopped the work on 5 June before noon. Two panes of the north window had cracked and were "
    "replaced; the warden agreed by telephone the same day."
)
REMARK_2 = "The bell frame was oiled and left as it was. Nobody has rung it since."


def _shifts(canvas: Canvas) -> None:
    _title(canvas, "Hours worked at St Bride's")
    columns = ((60, "left"), (110, "left"), (225, "right"), (265, "right"), (305, "right"))
    table(canvas, 752, Look(columns, gap=5), SHIFTS)
    write(canvas, 340, 754, ["Remarks of the steward"], font="Helvetica-Bold", size=9)
    y = prose(canvas, 340, 741, REMARK, 200)
    prose(canvas, 340, y, REMARK_2, 200)


PARTS = (
    ("Part", "Material"),
    ("Bowl", "Steel 1.4301"),
    ("Blade", "Steel 1.4116"),
    ("Ring", "Silicone"),
    ("Foot", "Rubber"),
)
CLEANING = (
    ("Agent", "Bowl", "Ring"),
    ("Soap to 60 °C", "yes", "yes"),
    ("Vinegar, diluted", "yes", "no"),
    ("Chlorine bleach", "no", "no"),
    ("Alcohol to 70 %", "yes", "yes"),
    ("Scouring powder", "no", "no"),
)


def _pairs(canvas: Canvas) -> None:
    _title(canvas, "Kitchen cutter KC-2: materials and cleaning", "Times-Bold")
    left = Look(((60, "left"), (120, "left")), "Times-Roman", "Times-Bold", 10, 12, 2)
    table(canvas, 750, left, PARTS)
    table(canvas, 750, replace(left, columns=((310, "left"), (440, "middle"), (490, "middle"))), CLEANING)
    prose(canvas, 60, 640, "Dry all parts before they are put together again. The blade is sharp on both sides.", 470)


LEFT_1 = (
    "The pool opens on 3 May at 8:00. Season tickets cost 84 euros and are sold at the kiosk from 22 April on. "
    "Children under 6 swim free of charge when somebody over 16 goes with them. "
) * 3
RIGHT_1 = (
    "In 2025 the slide was closed for 19 days because of a crack. It was tested on 11 March 2026 and may be used "
    "again. The depth of the diving pool is 3.80 metres; nobody may dive elsewhere. "
) * 3


def _news(canvas: Canvas) -> None:
    _title(canvas, "News from the pool")
    prose(canvas, 60, 750, LEFT_1, 225)
    prose(canvas, 310, 750, RIGHT_1, 225)


FREIGHT = (
    ("Consignment", "Goods", "Weight", "Unit", "Rate", "Charge"),
    ("B-2041", "Roof tiles on pallets, shrink-wrapped,\nnot to be stacked", "1,240", "kg", "0.18", "223.20"),
    ("B-2042", "Paint, class 3", "86", "kg", "0.41", "35.26"),
    ("B-2043", "Door leaves, standing, with blankets\nbetween them", "14", "pcs", "7.50", "105.00"),
    ("B-2044", "Window glass", "9", "pcs", "12.00", "108.00"),
    ("B-2045", "Sand in bags", "2,000", "kg", "0.09", "180.00"),
)


def _freight(canvas: Canvas) -> None:
    _title(canvas, "Freight note 77", "Times-Bold")
    columns = ((50, "left"), (130, "left"), (340, "right"), (344, "left"), (420, "right"), (500, "right"))
    y = table(canvas, 752, Look(columns, "Times-Roman", "Times-Bold", 10, 12, 4, heads=1), FREIGHT)
    prose(
        canvas, 50, y - 12, "Charges are in euros without tax. Waiting of more than 30 minutes is charged apart.", 480
    )


LEDGER = (
    ("Day", "What for", "Received", "Spent", "In hand"),
    ("1 Oct", "Brought forward", "", "", "140.25"),
    ("4 Oct", "Fees of the autumn term,\n12 members", "180.00", "", "320.25"),
    ("9 Oct", "Hall hire for two evenings,\nparish of St Anne", "", "64.00", "256.25"),
    ("15 Oct", "Strings and rosin", "", "38.90", "217.35"),
    ("21 Oct", "Gift in memory of\nMrs Orla Finch, for the\nyoung players", "50.00", "", "267.35"),
    ("30 Oct", "Photocopies", "", "4.80", "262.55"),
)


def _ledger(canvas: Canvas) -> None:
    _title(canvas, "Cash book of the string players")
    columns = ((60, "left"), (115, "left"), (330, "right"), (410, "right"), (490, "right"))
    table(canvas, 745, Look(columns, size=10, lead=12, gap=7, last=True, later=frozenset({2, 3, 4})), LEDGER)


ESTIMATE = (
    ("Pos.", "Service", "Hours", "Per hour", "Sum"),
    ("A1", "Survey of the damp walls with a report", "6", "72.00", "432.00"),
    ("A2", "Drying machines put up and read every\nsecond day", "9", "58.00", "522.00"),
    ("A3", "Plaster cut out to a height of 1.20 m", "14", "58.00", "812.00"),
    ("A4", "Journeys", "", "", "included"),
)
ESTIMATE_SUMS = (
    ("Sum before tax", "1,766.00"),
    ("Tax at the reduced rate of 10 percent", "176.60"),
    ("Sum with tax", "1,942.60"),
)


def _estimate(canvas: Canvas) -> None:
    _title(canvas, "Estimate 2026-38", "Times-Bold")
    columns = ((60, "left"), (100, "left"), (360, "right"), (430, "right"), (510, "right"))
    look = Look(columns, "Times-Roman", "Times-Bold", 10, 12, 5)
    y = table(canvas, 750, look, ESTIMATE)
    sums = Look(((270, "left"), (510, "right")), "Times-Roman", "Times-Bold", 10, 12, 5, heads=0)
    y = table(canvas, y - 14, sums, ESTIMATE_SUMS)
    prose(canvas, 60, y - 14, "The estimate is valid for six weeks. Hidden damage is not part of it.", 470)


CLIMATE = (
    ("Station", "mean", "lowest", "highest", "sum", "days"),
    ("Aldmoor", "8.1", "-14.25", "31.0", "912", "171"),
    ("Brent Pass", "2.75", "-27.5", "22.4", "1,640", "203"),
    ("Coldwell", "9.4", "-9.8", "33.15", "688", "140"),
    ("Dunlin Isle", "..", "-3.5", "24.0", "1,105", ".."),
    ("Eastry", "10.25", "-11.0", "35.6", "590", "128"),
)
CLIMATE_GRID = (
    ("Station", "Temperature (°C)", "Temperature (°C)", "Temperature (°C)", "Rain (mm)", "Rain (mm)"),
    *CLIMATE,
)


def _climate(canvas: Canvas) -> None:
    _title(canvas, "The weather of 2025")
    columns = ((60, "left"), (190, "."), (260, "."), (330, "."), (420, "right"), (480, "right"))
    look = Look(columns, size=9, lead=12, gap=3)
    y = groups(canvas, 748, look, ((262, "Temperature (°C)"), (440, "Rain (mm)")))
    y = table(canvas, y, look, CLIMATE)
    prose(
        canvas, 60, y - 12, "Two dots: the instrument did not work. Dunlin Isle is read by the lighthouse keeper.", 470
    )


CLINIC = (
    ("Room", "Doctor", "Opens", "Closes"),
    ("1.04", "Dr Amara Osei", "8:00", "12:00"),
    ("1.05", "Dr Lena Brandt,\nDr Piet Kuiper", "8:30", "16:30"),
    ("1.07", "Dr Ines Sabo", "13:00", "18:00"),
    ("2.01", "Nurse station", "7:00", "19:00"),
    ("2.02", "Laboratory", "7:00", "11:00"),
)
CLINIC_NOTE = (
    "Bring your card and all medicines that you take. Whoever has a fever waits in the tent at the back door and rings "
    "once. Blood is taken before 10:30 only."
)


def _clinic(canvas: Canvas) -> None:
    _title(canvas, "Clinic at the harbour", "Times-Bold")
    columns = ((60, "left"), (105, "left"), (260, "right"), (310, "right"))
    look = Look(columns, "Times-Roman", "Times-Bold", 10, 12, 5)
    table(canvas, 752, look, CLINIC)
    write(canvas, 350, 755, ["Before you come"], font="Times-Bold", size=10)
    prose(canvas, 350, 741, CLINIC_NOTE, 185, look)


SIZES = (("Size", "Chest (cm)"), ("S", "86 to 91"), ("M", "92 to 99"), ("L", "100 to 107"))
CARE = (
    ("Fabric", "Wash", "Iron"),
    ("Wool", "30 °C", "low"),
    ("Linen", "60 °C", "high"),
    ("Silk", "by hand", "low"),
    ("Cotton", "60 °C", "middle"),
)


def _sizes(canvas: Canvas) -> None:
    _title(canvas, "Sizes and care")
    table(canvas, 750, Look(((60, "left"), (130, "left")), size=10, lead=12, gap=3), SIZES)
    table(canvas, 750, Look(((320, "left"), (420, "middle"), (490, "middle")), size=10, lead=12, gap=3), CARE)
    prose(canvas, 60, 640, "Sizes are measured on the body. Exchange is free within 30 days after delivery.", 470)


LEFT_2 = (
    "Rehearsals take place on Tuesdays at 19:30 in room 2.14. New singers may listen twice before they decide. The fee "
    "of 45 euros a term is due by 15 September. "
) * 4
RIGHT_2 = (
    "The concert of 13 December is given in St Olaf's. Doors open at 18:00, seats are not numbered. Of 310 tickets 120 "
    "are kept for members until 1 November. "
) * 4


def _choir(canvas: Canvas) -> None:
    _title(canvas, "Choir letter", "Times-Bold")
    prose(canvas, 60, 750, LEFT_2, 200, Look((), "Times-Roman", size=11))
    prose(canvas, 300, 750, RIGHT_2, 235, Look((), "Times-Roman", size=11))


OPEN = {
    "votes": Page(_votes, (grid(VOTES),)),
    "statement": Page(_statement, (grid(STATEMENT),)),
    "items": Page(_items, (grid(ITEMS), grid(SUMS))),
    "harvest": Page(_harvest, (HARVEST_GRID,)),
    "shifts": Page(_shifts, (grid(SHIFTS),)),
    "pairs": Page(_pairs, (grid(PARTS), grid(CLEANING))),
    "news": Page(_news),
}
KEPT = {
    "freight": Page(_freight, (grid(FREIGHT),)),
    "ledger": Page(_ledger, (grid(LEDGER),)),
    "estimate": Page(_estimate, (grid(ESTIMATE), grid(ESTIMATE_SUMS))),
    "climate": Page(_climate, (CLIMATE_GRID,)),
    "clinic": Page(_clinic, (grid(CLINIC),)),
    "sizes": Page(_sizes, (grid(SIZES), grid(CARE))),
    "choir": Page(_choir),
}
