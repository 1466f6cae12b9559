"""Function words of languages other than English: what no running text of them does without."""

from typing import Final

FUNCTION_WORDS: Final = {
    "de": "der die das und ist nicht ein eine einen einem einer des dem den mit von für auf sich auch es im zu zur"
    " zum wird werden wurde sind oder bei nach wie aber sie er wir kann als aus dass durch über nur noch muss beträgt",
    "fr": "le la les un une des du de et est pas que qui dans pour sur avec par ce cette ces il elle ils sont au"
    " aux ne se plus ou mais été être doit peut leur son sa ses",
    "es": "el la los las un una unos de del y es no que en por para con su sus se al lo como más pero son está"
    " fue ser este esta estos puede debe también o",
    "it": "il lo la gli le un una di del della dei delle e è che non per con si da dal nel nella alla sono come"
    " più anche ma o deve può questo questa essere",
    "pt": "o os as um uma de do da dos das e é que não em no na nos nas por para com se ao mais mas são foi ser"
    " este esta pode deve também",
    "nl": "de het een van en is niet dat die op te zijn met voor aan er bij ook maar wordt worden werd als naar uit"
    " om door over kan moet deze dit",
    "sv": "och att det som är en ett av för den på inte med till har om från eller kan ska måste de vi",
    "da": "og at det som er en et af for den på ikke med til har om fra eller kan skal der de vi",
    "pl": "i w na z nie się jest do to że o jak po co ale od za przez dla są być może oraz który która",
    "cs": "a v na se je že z do o k pro by ale jako od po za jsou nebo být který která",
    "tr": "ve bir bu da de için ile olarak olan daha çok gibi değil ne kadar sonra her en ise veya",
    "ro": "și de la în cu pe nu este un o care sau din să mai pentru sunt prin ce se a",
    "fi": "ja on ei se että oli hän ovat mutta myös kuin tai joka sen voi ole kun",
    "hu": "a az és nem hogy egy is van meg volt csak már de vagy ha mint lehet kell",
}  # fmt: skip
"""By ISO 639-1 code; several languages share some of them."""
