# ruff: noqa: E501  (texts are data)
"""Bibliographies with traps, by their name; each entry has as key the name of a text in the folder that cites it."""

CHILDREN = r"""
@xdata{house, publisher = {Brepols}, location = {Turnhout}}
@collection{towns, title = {Towns of the North}, subtitle = {Trade and Law}, editor = {Falck, Ida}, date = {2008},
  xdata = {house}, isbn = {978-2-503-52000-1}}
@incollection{debt, title = {Fish and Debt}, author = {Nedkvitne, Arnved}, pages = {117--140}, crossref = {towns}}
@proceedings{days, title = {Hanse Days}, editor = {Roe, Ann}, date = {1999}, publisher = {Brill}, location = {Leiden}}
@inproceedings{rye, title = {On Rye}, author = {Sund, Maria}, crossref = {days}, pages = {3-9}}
"""
STRINGS = r"""
@string{jnt = "Journal of Northern Trade"}
@string{alma = {Alma}}
@string{place = "Ber" # "gen"}
@article{kontor, title = "The " # {Kontor}, author = {Helle, Knut and Lunde, Anna B.}, journal = jnt, year = 2019,
  month = mar, volume = 12, number = 2, pages = "233--250"}
@book{ships, title = {Ships}, author = {Castner, Ida}, publisher = alma, address = place, year = 1987, edition = {2}}
"""
BRACES = r"""
@book{hanse, title = {The {{H}anse} and {{B}ergen's} {{Kontor}}}, author = {{Roe}, {Ann}}, publisher = {{Alma} {Press}},
  address = {{Oslo}}, year = {2003}}
@article{law, title = "{Law {and {Order}}} in {{B}ergen}", author = "Doe, Jane", journal = {{Past}}, year = 1990,
  volume = {7}, pages = {1--2}}
"""
ACCENTS = r"""
@book{ueber, title = {{\"U}ber den L{\"u}becker {Stra{\ss}enbau}}, author = {M{\"u}ller-L{\"u}denscheidt, J{\"o}rg},
  publisher = {Sch{\"o}ningh}, address = {K{\"o}ln}, year = 1988}
@book{oe, title = {{\O}l og {\aa}r p{\aa} {\AE}r{\o}}, author = {S{\o}rensen, {\AA}se and {\v{C}}apek, Ji{\v r}{\'i}},
  publisher = {Gad}, address = {K{\o}benhavn}, year = 1977}
@article{caf, title = {Caf\'es, na\"{\i}vet\'e \& \c{c}a}, author = {Garc\'{\i}a, Jos\'e and Nu{\~n}ez, Mar{\'\i}a},
  journal = {Annales}, year = 1995, volume = 50, pages = {1--20}}
"""
ORGANISATIONS = r"""
@book{bank, title = {A History of Credit}, author = {{Deutsche Bank}}, publisher = {Alma}, address = {Bonn}, year = 1997}
@report{council, title = {Grain of the Town}, author = {{City Council of Bergen} and {Barnes and Noble} and Sund, Maria},
  institution = {{University of Bergen}}, type = {Report}, year = 2010}
"""
PARTICLES = r"""
@book{hoevel, title = {Rye Prices}, author = {von der H{\"o}vel, Anna}, publisher = {Alma}, address = {Bonn}, year = 1999}
@book{cruz, title = {Salt Prices}, author = {de la Cruz, Juan and Ludwig van Beethoven and Charles de Gaulle},
  publisher = {Alma}, address = {Madrid}, year = 2002}
@book{ueberbach, title = {Silver Prices}, author = {{\"U}berbach, Udo}, publisher = {Alma}, address = {Bonn}, year = 1998}
"""
ADDRESSES = r"""
@online{port, title = {The Port}, author = {Roe, Ann}, date = {2015-03-04}, urldate = {2020-01-02},
  url = {https://example.org/port_1?a=b&c=%20d#e}}
@article{tide, title = {Tides}, author = {Doe, Jane}, journaltitle = {Past}, date = {2001-11}, volume = {9}, pages = {5-8},
  doi = {10.1234/past(2001)9:5_8}, url = {https://example.org/tides}, urldate = {2021-06-07}}
"""
NON_LATIN = r"""
@book{novgorod, title = {Новгород и Ганза}, author = {Хорошкевич, Анна}, publisher = {Наука}, address = {Москва}, year = 1963}
@book{cha, title = {茶の道}, author = {山田, 太郎}, publisher = {岩波書店}, address = {東京}, year = 1975}
@article{tijara, title = {تجارة الحرير}, author = {الحسن, علي}, journal = {التاريخ}, year = 1988, volume = 3, pages = {7--9}}
"""
RIS = """TY  - CHAP
AU  - Nedkvitne, Arnved
AU  - van der Berg, Jörg
A2  - Falck, Ida
TI  - Fish and Debt
T2  - Towns of the North
PY  - 2008
PB  - Brepols
CY  - Turnhout
SP  - 117
EP  - 140
SN  - 978-2-503-52000-1
ID  - debt
ER  -

TY  - JOUR
AU  - Helle, Knut
TI  - Über das Kontor
T2  - Past & Present
PY  - 2019
DA  - 2019/03/04/
VL  - 12
IS  - 2
SP  - 233
EP  - 250
DO  - 10.1234/pp_12
UR  - https://example.org/kontor?a=1&b=2
Y2  - 2020/01/02/
ID  - kontor
ER  -
"""
BIB = {
    "children": CHILDREN,
    "strings": STRINGS,
    "braces": BRACES,
    "accents": ACCENTS,
    "organisations": ORGANISATIONS,
    "particles": PARTICLES,
    "addresses": ADDRESSES,
    "other alphabets": NON_LATIN,
}
KEYS = {
    "children": ("debt", "rye"),
    "strings": ("kontor", "ships"),
    "braces": ("hanse", "law"),
    "accents": ("ueber", "oe", "caf"),
    "organisations": ("bank", "council"),
    "particles": ("hoevel", "cruz", "ueberbach"),
    "addresses": ("port", "tide"),
    "other alphabets": ("novgorod", "cha", "tijara"),
}
