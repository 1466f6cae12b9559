"""Closed classes of words: of a choice among weekdays every other weekday is none of the options (ADR 0116).

Each entry is one thing with all it is called by; only what everybody would put beside the options stands here.
"""

from typing import Final

_CLASSES: Final = {
    "weekday": "monday mon; tuesday tue tues; wednesday wed; thursday thu thur thurs; friday fri; saturday sat; sunday sun",
    "month": "january jan; february feb; march mar; april apr; may; june jun; july jul; august aug; september sep sept; "
    "october oct; november nov; december dec",
    "colour": "red; green; blue; yellow; black; white; grey gray; brown; orange; purple violet; pink; turquoise; beige",
    "transport": "train rail; bus coach; ferry ship boat; plane flight aeroplane airplane; car; taxi cab; bicycle bike; "
    "tram; underground metro subway; helicopter",
    "payment": "card creditcard; paypal; transfer; cheque check; cash; debit; bitcoin cryptocurrency; voucher",
    "period": "hourly; daily; weekly; fortnightly; monthly; quarterly; yearly annually annual; once",
    "season": "spring; summer; autumn fall; winter",
    "level": "low; medium; high; critical; moderate; severe; urgent; normal",
    "format": "json; xml; csv; yaml; html; pdf; markdown; docx; xlsx; text; png; jpeg jpg; svg; gif; webp",
    "method": "get; post; put; patch; delete; head; options",
    "currency": "eur euro euros €; usd dollar dollars $; gbp pound pounds sterling £; chf franc francs; jpy yen ¥; "
    "sek krona; nok krone; inr rupee rupees ₹; cad; aud; cny yuan",
    "subject": "biology; chemistry; physics; mathematics maths; history; geography; music; art; sport; literature; economics",
    "order": "ascending; descending; random; alphabetical",
    "size": "small; medium; large",
    "meat": "beef; pork; chicken; turkey; lamb; fish; tofu; duck; venison; veal; salmon; tuna; cod",
    "language": "english; german; french; spanish; italian; dutch; polish; portuguese; swedish; danish; chinese; japanese",
    "material": "wood; steel; aluminium aluminum; plastic; glass; leather; cotton; wool; polyester; silk; linen; concrete; "
    "copper; brass; bamboo",
    "milk": "oat; almond; soy soya; rice; coconut; cow",
    "grain": "rice; quinoa; pasta; potatoes potato; couscous; bulgur; bread; noodles; millet",
}
CLASSES: Final = {
    name: {word: entry.split()[0] for entry in entries.split(";") if entry.strip() for word in entry.split()}
    for name, entries in _CLASSES.items()
}
"""For each class every word of it with the first name of what it stands for."""


def class_of(options: list[str]) -> str | None:
    """Return the one class that every option belongs to by one of its words, or ``None``."""
    for name, words in CLASSES.items():
        if all(any(word in words for word in option.split()) for option in options):
            return name
    return None
