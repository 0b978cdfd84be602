"""Abbreviations that do not end a sentence, by language; lower case, without the last full stop.

Only those that a capital or a number may follow within a sentence: titles, places, pages. Not listed are those that
often end sentences ("usw.", "etc."), and single letters, which are always treated as initials.
"""

import functools

_EVERYWHERE = "dr prof st mr mrs ms vol nr ca cf vs bd fig tab ed eds al"
_BY_LANGUAGE = {
    "de": """
        abb abk abs abschn allg anm aufl ausg bzgl bzw chr d.h dipl dipl.-ing ebd einschl engl ev evtl frz geb gegr
        gen ges gest ggf griech hl hr hrsg i.d.r ing insb inkl jh jhd kap kath lat lt mind mio mrd nachm o.ä o.g
        österr phil rd s.o s.u sog spez str tel tsd u.a u.ä univ urspr v.a v.chr vgl vorm z.b z.t z.zt zzgl
    """,
    "fr": """
        anc apr auj av boul chap cie coll cté dép dir env ex fig fr hab l.-c m.m mgr mlle mlles mm mme mmes nbr n.b o.c
        p.ex pl pp préf réf rev s.a spéc ste suiv sté trad univ vol voy éd édit
    """,
    "es": """
        a.c admón apdo art arts av avda cap cía d.c depto dña ed edo esp excmo fig gral ing lic máx mín núm ntra p.ej
        pág págs párr pp prov ref s.a sec sra sras sres srta sta sto tel trad ud uds vda vol
    """,
    "it": """
        a.c avv all art artt autr cap capp cfr col com d.c dott dott.ssa ed es fasc fig figg geom gen giov ill ing
        lett mons naz nn num on pag pagg par pp prof.ssa rag ref rev s.p.a sec seg sen sig sigg sig.na sig.ra spett tav
        tel trad vol voll
    """,
    "pt": """
        a.c art arts av bel cap cia d.c dep dept dra ed eng esp est exmo fl fls gen ilmo ind ltda máx mín núm obs
        pág págs p.ex pe prof.ª profa ref rev s.a séc sécs sra sras srs sta sto tel trad
    """,
    "pl": """
        al art bl bp bł cyt cz doc dyr dz gen godz hab im inż jw kard kol kpt ks lp łac m.in mec mgr mies min mjr mkw
        n.e n.p.m nast np oo oprac os ot p.n.e par pkt płk pn pol poł por pow poz przyp ps pt red ref rozdz rtm rys
        s.a sp św str śp t.j tab tel tj tłum tzn tzw ul ur urz ust w.w wg wicepr woj wsp wyd zob
    """,
    "ru": """
        акад бул гос гр губ дер доц зам им инж корп мн напр обр о.г ок оз отд пер пл пос преп проф просп рис рук сб св
        см ср ст стр сут ул ур уст фам янв февр апр авг сент окт нояб дек
    """,
    "ar": "د أ م ص ج ط هـ",
    "nl": "a.u.b bijv blz bv dhr d.w.z drs evt excl gem geb incl ing ir jl jr max mej mevr min mw nl o.a resp str tel "
    "t.o.v zgn",
    "sv": "bl.a d.v.s dvs e.d ev exkl f.d fr.o.m ffg inkl jfr kl obs resp s.k t.ex t.o.m tel ung",
    "da": "bl.a ca dvs eks f.eks fx inkl jf kl maks mio mht nr pga s.å tlf vedr",
    "no": "bl.a ca dvs eks f.eks inkl jf kl mill nr pga tlf vedr",
    "tr": "alb av bkz bşk cad doç hz km md mah mr no öğr ör s sn sok şti tel yrd yy yüzb",
}
_ORDINALS = frozenset({"de", "pl", "da", "no", "fi", "cs", "sk", "hu", "hr", "sr", "sl", "et", "lv", "is", "tr"})


def is_abbreviation(token: str, language: str) -> bool:
    """Whether a full stop after a token ends an abbreviation, not a sentence.

    Args:
        token: the text between white space and the full stop, in lower case.
        language: ISO 639-1 code.
    """
    return token in _known(language)


def ordinals_have_stops(language: str) -> bool:
    """Whether the language writes ordinals as "3."."""
    return language in _ORDINALS


@functools.cache
def _known(language: str) -> frozenset[str]:
    return frozenset(f"{_EVERYWHERE} {_BY_LANGUAGE.get(language, '')}".split())
