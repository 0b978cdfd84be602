"""Numbers and dates by value: what a sentence states is found in a source however the source spells it."""

import time
from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.quantities import Quantity, missing, quantities

HELD = [
    ("It had two million readers.", "en", "2,000,000 people read it.", "en"),
    ("It had 2 million readers.", "en", "2m people read it.", "en"),
    ("It had 2.0 million readers.", "en", "Two million people read it.", "en"),
    ("It cost $1.5 billion.", "en", "The cost was $1.5bn.", "en"),
    ("It cost 1,500,000,000 dollars.", "en", "The cost was 1.5 bn dollars.", "en"),
    ("It sold 12 copies.", "en", "A dozen copies were sold.", "en"),
    ("It sold two dozen copies.", "en", "Only 24 copies were sold.", "en"),
    ("About thirty people were held.", "en", "Une trentaine de personnes ont été arrêtées.", "fr"),
    ("Hundreds came, 200 of them from abroad.", "en", "Deux centaines sont venues de l'étranger.", "fr"),
    ("About ten houses fell.", "en", "Cayeron una decena de casas.", "es"),
    ("Some 50 people were held.", "en", "Detuvieron a una cincuentena de personas.", "es"),
    ("She wrote 23 novels.", "en", "She wrote twenty-three novels.", "en"),
    ("It holds one hundred and five works.", "en", "It holds 105 works.", "en"),
    ("It holds 250,000 works.", "en", "A quarter of a million is 250 thousand works.", "en"),
    ("About 500,000 people live there.", "en", "Half a million people live there.", "en"),
    ("It weighs 2.5 tonnes.", "en", "It weighs two and a half tonnes.", "en"),
    ("It weighs 2.5 tonnes.", "en", "It weighs 2½ tonnes.", "en"),
    ("It fell by 6.1 percent.", "en", "Es fiel um 6,1 Prozent.", "de"),
    ("It fell by 25 %.", "en", "It fell by 25 per cent.", "en"),
    ("It fell by 25 percent.", "en", "It fell by a quarter of its value.", "en"),
    ("Two thirds of them stayed.", "en", "67 % of them stayed.", "en"),
    ("67 percent of them stayed.", "en", "Two-thirds of them stayed.", "en"),
    ("Half of the 30 members left.", "en", "Fifty percent of thirty members left.", "en"),
    ("Between 10 and 15 percent left.", "en", "10–15% left.", "en"),
    ("It grew from 2 to 3 million.", "en", "It grew from 2,000,000 to 3,000,000.", "en"),
    ("The war of 1914–1918 ended.", "en", "The war of 1914–18 ended.", "en"),
    ("The war lasted from 1914 to 1918.", "en", "The war (1914–18) was long.", "en"),
    ("It has 1,234,567 inhabitants.", "en", "Die Stadt hat 1.234.567 Einwohner.", "de"),
    ("It has 1,234,567 inhabitants.", "en", "La ville compte 1\u202f234\u202f567 habitants.", "fr"),
    ("It has 1,234,567 inhabitants.", "en", "La ville compte 1 234 567 habitants.", "fr"),
    ("It has 1,234,567 inhabitants.", "en", "Die Stadt hat 1'234'567 Einwohner.", "de"),
    ("It has 1,234,567 inhabitants.", "en", "It has 12,34,567 inhabitants.", "en"),
    ("It was popular in the 1990s.", "en", "It was a success in 1994.", "en"),
    ("It is of the nineteenth century.", "en", "Nineteenth-century jackets were worn.", "en"),
    ("It was built in the 19th century.", "en", "Nineteenth-Century houses stand there.", "en"),
    ("It was popular in the nineteenth century.", "en", "Es war im 19. Jahrhundert beliebt.", "de"),
    ("It was built in the 19th century.", "en", "Il fut construit au XIXe siècle.", "fr"),
    ("It was built in the 19th century.", "en", "Se construyó en el siglo XIX.", "es"),
    ("It was built in the 19th century.", "en", "Дворец построен в XIX веке.", "ru"),
    ("It was built in the 19th century.", "en", "19世紀に建てられた。", "ja"),
    ("It is the 21st edition.", "en", "This is the twenty-first edition.", "en"),
    ("He died on 3 August 2022.", "en", "He died on August 3, 2022.", "en"),
    ("He died on August 3, 2022.", "en", "died: 2022-08-03", "en"),
    ("He died on August 3, 2022.", "en", "Er starb am 03.08.2022.", "de"),
    ("He died on August 3, 2022.", "en", "Er starb am 3. August 2022.", "de"),
    ("He died on August 3, 2022.", "en", "Il est mort le 3 août 2022.", "fr"),
    ("He died on August 1, 2022.", "en", "Il est mort le 1er août 2022.", "fr"),
    ("He died on August 3, 2022.", "en", "Murió el 3 de agosto de 2022.", "es"),
    ("He died on August 3, 2022.", "en", "È morto il 3 agosto 2022.", "it"),
    ("He died on August 3, 2022.", "en", "Morreu em 3 de agosto de 2022.", "pt"),
    ("He died on August 3, 2022.", "en", "Zmarł 3 sierpnia 2022 roku.", "pl"),
    ("He died on August 3, 2022.", "en", "Он умер 3 августа 2022 года.", "ru"),
    ("He died on August 3, 2022.", "en", "2022年8月3日に亡くなった。", "ja"),
    ("He died on August 3, 2022.", "en", "توفي في ٣ أغسطس ٢٠٢٢.", "ar"),
    ("He died in August 2022.", "en", "He died on Aug. 3, 2022.", "en"),
    ("He died in 2022.", "en", "He died on Aug. 3, 2022.", "en"),
    ("He died on August 3, 2022.", "en", "In 2022 he fell ill, and died on 3 August.", "en"),
    ("It is the 50th anniversary.", "en", "It is the fiftieth anniversary.", "en"),
    ("The 1870s were hard.", "en", "The 1860s–70s were hard.", "en"),
    ("The 1990s were hard.", "en", "The nineties were hard.", "en"),
    ("It took 50 years.", "en", "It took half a century.", "en"),
    ("It took 20 years.", "en", "Es dauerte zwei Jahrzehnte.", "de"),
    ("It rose by 0.5 percent.", "en", "It rose by half a percent.", "en"),
    ("It took 2.5 years.", "en", "It took 2 1/2 years.", "en"),
    ("2/3 of them left.", "en", "Two thirds of them left.", "en"),
    ("He played in 2001–2002.", "en", "He played in the 2001-02 season.", "en"),
    ("It ran in 1999–2000.", "en", "It ran in the 1999–00 season.", "en"),
    ("The bridges are of the 3rd century BC.", "en", "Los puentes son del siglo III a. C., según dicen.", "es"),
    ("It has 1,200 bridges.", "en", "La città ha milleduecento ponti.", "it"),
    ("It has 2,500 bridges.", "en", "Die Stadt hat zweitausendfünfhundert Brücken.", "de"),
    ("It was founded in 1237.", "en", "Gegründet zwölfhundertsiebenunddreißig.", "de"),
    ("It fell by 25 percent.", "en", "减少了百分之二十五。", "zh"),
    ("Two thirds of them left.", "en", "约三分之二离开了。", "zh"),
    ("It cost 350 million.", "en", "人口25，费用为3.5亿元。", "zh"),
    ("人口约1260万。", "zh", "It has 12,640,000 inhabitants.", "en"),
    ("La ville compte environ 2,1 millions d’habitants.", "fr", "It has 2,103,778 inhabitants.", "en"),
    ("В 1945 году погибло около 26,6 млн человек.", "ru", "In 1945, 26.6 million had died.", "en"),
    ("Caesar died in 44 BC.", "en", "Caesar starb 44 v. Chr. in Rom.", "de"),
    ("The tombs date from 3,800-3,700 BC.", "en", "They are from between 3800 and 3700 BC, and 3,800 BCE.", "en"),
    ("The volcano erupted in AD 79.", "en", "The eruption of 79 CE buried it.", "en"),
    ("Nearly 400 people came.", "en", "Some 400 people came.", "en"),
    ("About 360 people came.", "en", "Exactly 358 people came.", "en"),
    ("Nearly 400 people came.", "en", "Exactly 396 people came.", "en"),
    ("More than 300 people came.", "en", "Exactly 358 people came.", "en"),
    ("It is 300 kilometres long.", "en", "It is 300km long.", "en"),
    ("It has two million inhabitants.", "en", "Die Stadt hat zwei Millionen Einwohner.", "de"),
    ("It has 21 rooms.", "en", "Das Haus hat einundzwanzig Zimmer.", "de"),
    ("It has 97 rooms.", "en", "La maison a quatre-vingt-dix-sept chambres.", "fr"),
    ("It has 31 rooms.", "en", "La casa tiene treinta y una habitaciones.", "es"),
    ("It cost 3 billion euros.", "en", "Costó tres mil millones de euros.", "es"),
    ("It has 300 rooms.", "en", "La casa ha trecento stanze.", "it"),
    ("It has 3 million inhabitants.", "en", "В городе три миллиона жителей.", "ru"),
    ("It has 20 rooms.", "en", "Dom ma dwadzieścia pokoi.", "pl"),
    ("It has 15,000 inhabitants.", "en", "人口1.5万人。", "zh"),
    ("It has 120 million inhabitants.", "en", "人口は1億2000万人です。", "ja"),
    ("It has 300 rooms.", "en", "有三百个房间。", "zh"),
    ("It has 15 rooms.", "en", "It has １５ rooms.", "en"),
    ("One of the houses is no one's.", "en", "The houses are empty.", "en"),
    ("The first of them had a second home.", "en", "They had homes.", "en"),
    ("It was, in part, three things [12].", "en", "It was many things.", "en"),
    ("Das Haus ist eines der ältesten.", "de", "It is among the oldest.", "en"),
    ("Die Stadt hat 1,5 Mio. Einwohner.", "de", "The city has 1.5 million people.", "en"),
    ("She has three children.", "en", "Her three children survive her.", "en"),
    ("It drew 53.9 million viewers.", "en", "It was up 7% from Giants/Packers in ’08 (29.0/43, 53.9 mil).", "en"),
    ("He scored in two quarters.", "en", "He scored in the second and the third quarter.", "en"),
    ("He scored in both of the two halves of the game.", "en", "He scored twice.", "en"),
    ("They led after three quarters.", "en", "They led at the end of the third quarter.", "en"),
    ("They led for 3 quarters.", "en", "They led for three quarters.", "en"),
    ("His average is .930.", "en", "9 1.86 0.930 0", "en"),
    ("His average is 0.93.", "en", "He had .930 in nine games.", "en"),
    ("It lifted at 5:57 p.m.", "en", "It lifted around 557 PM EDT.", "en"),
    ("They played in Hartford on September 11.", "en", "09/10 Philadelphia, PA 09/11 Hartford, CT", "en"),
    ("They played in Hartford on September 11.", "en", "9/10 – Philadelphia, PA 9/11 – Hartford, CT", "en"),
    ("They played in Phoenix on 8 March.", "en", "3/6 – Tucson, AZ 3/8 – Phoenix, AZ", "en"),
    ("It has 3,872,952 streams.", "en", "It has 3,872,952 million streams.", "en"),
    ("Ugly is 2:38 long, and Crush 2:58.", "en", "of Ugly. 2:384Girl’s Girl. by Emenike. 2:585Crush", "en"),
    (
        "One gave it 95 per cent, Dojo 90, and Age 73 and Gamer 70, while two gave 60 per cent.",
        "en",
        "One 95% Dojo 90% Age 73% Gamer 70% Two 60%",
        "en",
    ),
    (
        "It is of the rising of the 18th century and the clearances of the 19th.",
        "en",
        "It was based on the 18th-century Rising and the 19th-century Clearances.",
        "en",
    ),
    ("A reviewer gave it 8 out of 10.", "en", "Final score (not an average): 8/10. Rating", "en"),
    ("It got 956.61 million dollars.", "en", "Source of funds ($million). Core capacity. $956.61 Other $125.00", "en"),
    ("It was done by September 2025.", "en", "The work as of 9/1/202 5 is done.", "en"),
    ("It was 110 after 5 minutes.", "en", "The pressure was 90/110 5 minutes later.", "en"),
    ("It got 125.5 million dollars.", "en", "Source of funds (in millions). Core capacity. 125.50 Other 12", "en"),
    ("It has 30 ships.", "en", "It earned .5/10, and has 30 ships.", "en"),
    ("A reviewer gave it 8.5/10.", "en", "The game earned a score of 8.5 out of 10.", "en"),
    ("The COVID-19 pandemic began.", "en", "The pandemic began.", "en"),
    ("It is 27.76 miles long.", "en", "Path Length27.76 MilesPeak Width1.0", "en"),
    ("It sold 75 percent.", "en", "It sold three quarters.", "en"),
]
LACKING = [
    ("It sold 2,000 copies.", "en", "It sold 20,000 copies.", "en", "2,000"),
    ("It began in 1914.", "en", "It began in 1941.", "en", "1914"),
    ("25 % left.", "en", "75 % left.", "en", "25 %"),
    ("25 percent left.", "en", "25 people left.", "en", "25 percent"),
    ("25 percent left, in 1990 people.", "en", "25 % left.", "en", "1990"),
    ("Of the 18th century and the 19th.", "en", "It was based on the 18th-century Rising.", "en", "19th"),
    ("A reviewer gave it 7 out of 10.", "en", "Final score: 8/10. Rating", "en", "7"),
    ("It got 956.61 million dollars.", "en", "It got $956.61 in all.", "en", "956.61 million"),
    ("10 percent of them fell ill.", "en", "It affects 1 out of 10,000 adults.", "en", "10 percent"),
    ("It cost 2.021 billion dollars.", "en", "It was seen in millions of homes in 2021.", "en", "2.021 billion"),
    (
        "It got 12 million dollars.",
        "en",
        "Source of funds ($million). Core capacity. 12 Other 125.00",
        "en",
        "12 million",
    ),
    ("A reviewer gave it 7/10.", "en", "The game earned a score of 8 out of 10.", "en", "7/10"),
    ("He died on August 3.", "en", "He died on August 30.", "en", "August 3"),
    ("He died on 3 August 2022.", "en", "He died on 3 August 2012.", "en", "3 August 2022"),
    ("He died on 3 August 2022.", "en", "He died in August 2022.", "en", "3 August 2022"),
    ("He died in July 2022.", "en", "He died on 3 August 2022.", "en", "July 2022"),
    ("It rose to 6.1.", "en", "It rose to 61.", "en", "6.1"),
    ("It rose to 61.", "en", "Es stieg auf 6,1.", "de", "61"),
    ("They played in Hartford on September 12.", "en", "09/10 Philadelphia, 09/11 Hartford", "en", "September 12"),
    ("His average is .930.", "en", "He won 930 of them.", "en", ".930"),
    ("It sold 1,234 copies.", "en", "La note est de 1,234.", "fr", "1,234"),
    ("Two thirds of them left.", "en", "2 of them left.", "en", "Two thirds"),
    ("Two thirds of them left.", "en", "Three quarters of them left.", "en", "Two thirds"),
    ("2/3 of them left.", "en", "3/4 of them left.", "en", "2/3"),
    ("Three quarters of them left.", "en", "Three of them left.", "en", "Three quarters"),
    ("Three-quarters stayed.", "en", "Three stayed.", "en", "Three-quarters"),
    ("It took 30 years.", "en", "It took two decades.", "en", "30"),
    ("人口1260万。", "zh", "It has 12,640,000 inhabitants.", "en", "1260万"),
    ("Два миллиона погибли.", "ru", "Three million died.", "en", "Два миллиона"),
    ("Two million came.", "en", "Two thousand came.", "en", "Two million"),
    ("It cost 2 million.", "en", "It cost 2 billion.", "en", "2 million"),
    ("It cost 1.5 billion.", "en", "Es kostete 1,5 Mio. Euro.", "de", "1.5 billion"),
    ("It was popular in the 1990s.", "en", "It was popular in the 1980s.", "en", "1990s"),
    ("It was built in the 19th century.", "en", "It was built in the 18th century.", "en", "19th century"),
    ("It was built in the 19th century.", "en", "Se construyó en el siglo XX.", "es", "19th century"),
    ("It began in 1994.", "en", "It was popular in the 1990s, from 1991 on.", "en", "1994"),
    ("Caesar died in 44 BC.", "en", "He died in AD 44.", "en", "44 BC"),
    ("There were 12 of them.", "en", "There were 10–15 of them.", "en", "12"),
    ("Exactly 360 people came.", "en", "Exactly 358 people came.", "en", "360"),
    ("About 360 people came.", "en", "Exactly 385 people came.", "en", "360"),
    ("Nearly 400 people came.", "en", "Exactly 420 people came.", "en", "400"),
    ("More than 400 people came.", "en", "Exactly 358 people came.", "en", "400"),
    ("It is the 21st edition.", "en", "It is the twenty-second edition.", "en", "21st"),
    ("The war of 1914–18 ended.", "en", "The war of 1914 to 1916 ended.", "en", "1914–18"),
    ("It has 32 rooms.", "en", "Das Haus hat dreiundzwanzig Zimmer.", "de", "32"),
    ("It has 150,000 inhabitants.", "en", "人口1.5万人。", "zh", "150,000"),
    ("She has three children.", "en", "Her two children survive her.", "en", "three"),
    ("It has 80 rooms.", "en", "La maison a quatre-vingt-dix chambres.", "fr", "80"),
    ("Sie hat dreihundert Bücher.", "de", "She has 200 books.", "en", "dreihundert"),
]


@pytest.mark.parametrize(("sentence", "language", "source", "spoken"), HELD)
def test_a_value_is_found_however_it_is_spelt(sentence: str, language: str, source: str, spoken: str) -> None:
    assert missing(sentence, [source], language=language, source_languages=[spoken]) == ()


@pytest.mark.parametrize(("sentence", "language", "source", "spoken", "lacking"), LACKING)
def test_another_value_is_not_found(sentence: str, language: str, source: str, spoken: str, lacking: str) -> None:
    assert missing(sentence, [source], language=language, source_languages=[spoken]) == (lacking,)


@pytest.mark.parametrize(
    ("sentence", "source", "published"),
    [
        ("It closed in February 2023.", "The shop closed last month.", "2023-03-02"),
        ("It closed in December 2022.", "The shop closed last December.", "2023-03-02"),
        ("It closed in August 2021.", "The shop closed last August.", "2022-08-31"),
        ("It closed in 2023.", "The shop closed this year.", "2023-03-02"),
        ("It closed in 2022.", "The shop closed last year.", "2023"),
        ("It closed in 2023.", "The shop closed in February.", "2023-03-02"),
        ("It will close in June 2023.", "The shop is to close in June.", "2023-03-02"),
        ("It closed on 1 March 2023.", "The shop closed yesterday.", "2023-03-02"),
        ("It closed on 9 February 2023.", "The shop closed on 9 February.", "2023-03-02"),
        ("It closed in 2021.", "The shop closed two years ago.", "2023-03-02"),
        ("It closed on 27 February 2023.", "The shop closed 3 days ago.", date(2023, 3, 2)),
        ("It closed in February 2023.", "The shop closed last month.", "2023-03"),
        ("It closed on 28 February 2023.", "The shop closed on Tuesday.", "2023-03-02"),
        ("It closed on 2 March 2023.", "The shop closed on Thursday.", "2023-03-02"),
        ("It will close on 7 March 2023.", "The shop is to close on Tuesday.", "2023-03-02"),
    ],
)
def test_a_page_s_own_date_tells_when_last_month_was(sentence: str, source: str, published: date | str) -> None:
    assert missing(sentence, [source], dates=[published]) == ()
    assert missing(sentence, [source]) != ()


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("de", "Der Laden schloss im vergangenen Monat."),
        ("fr", "La boutique a fermé le mois dernier."),
        ("es", "La tienda cerró el mes pasado."),
        ("it", "Il negozio ha chiuso il mese scorso."),
        ("pt", "A loja fechou no mês passado."),
        ("pl", "Sklep zamknięto w zeszłym miesiącu."),
        ("ru", "Магазин закрылся в прошлом месяце."),
    ],
)
def test_last_month_in_other_languages(language: str, source: str) -> None:
    asked = {"dates": ["2023-03-02"], "source_languages": [language]}
    assert missing("It closed in February 2023.", [source], **asked) == ()
    assert missing("It closed in January 2023.", [source], **asked) == ("January 2023",)


@pytest.mark.parametrize("source", ["a" * 100_000, "1990 year later " * 6_000, "Janu- " * 20_000])
def test_long_sources_of_years_and_divided_words_are_read_in_linear_time(source: str) -> None:
    began = time.process_time()
    assert missing("It closed on January 3, 1993.", [source]) == ("January 3, 1993",)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("source", ["sold, effective Janu- ary 1, 1930", "sold on 1 Janu\u00ad ary 1930"])
def test_a_month_that_was_divided_at_the_end_of_a_line(source: str) -> None:
    assert missing("It was sold on January 1, 1930.", [source]) == ()
    assert missing("It was sold on January 1, 1930.", ["sold, effective Febru- ary 1, 1930"]) == ("January 1, 1930",)


@pytest.mark.parametrize(
    ("language", "source"),
    [("es", "el 7 de setiembre de 2022"), ("de", "am 7. Feber 2022"), ("de", "am 7. Jänner 2022")],
)
def test_month_names_of_a_region(language: str, source: str) -> None:
    month = {"setiembre": "September", "Feber": "February", "Jänner": "January"}
    english = next(name for own, name in month.items() if own in source)
    assert not missing(f"They voted on 7 {english} 2022.", [source], source_languages=[language])
    assert missing("They voted on 7 May 2022.", [source], source_languages=[language])


def test_another_month_than_last_month_is_lacking() -> None:
    assert missing("It closed in August 2021.", ["It closed in August."], dates=["2022-08-31"]) == ("August 2021",)
    assert missing("It closed in January 2023.", ["It closed last month."], dates=["2023-03-02"]) == ("January 2023",)


def test_another_day_than_the_next_tuesdays_is_lacking() -> None:
    told = ["It closed on Tuesday."]
    assert missing("It closed on 1 March 2023.", told, dates=["2023-03-02"]) == ("1 March 2023",)
    assert missing("It closed on 14 February 2023.", told, dates=["2023-03-02"]) == ("14 February 2023",)
    assert missing("It closed on 28 February 2023.", told, dates=["2023-03"]) == ("28 February 2023",)
    german = {"dates": ["2023-03-02"], "source_languages": ["de"]}
    assert missing("It closed on 28 February 2023.", ["Er schloss am Dienstag."], **german) == ()


def test_a_publication_date_alone_supports_nothing() -> None:
    assert missing("It closed in 2023.", ["The shop closed."], dates=["2023-03-02"]) == ("2023",)


@pytest.mark.parametrize("published", ["", "soon", "2023-13-45", "0000", "9999-12-31"])
def test_a_date_that_is_none_is_no_hindrance(published: str) -> None:
    assert missing("It has 5 rooms.", ["5 rooms; tomorrow, next year"], dates=[published]) == ()


def test_what_is_lacking_comes_in_order_and_once() -> None:
    assert missing("In 1914, 20 left; 20 stayed till 1918.", ["It was 1918."]) == ("1914", "20")


def test_several_sources_hold_a_sentence_together() -> None:
    assert missing("In 1914, 20 left.", ["It was 1914.", "Twenty left."]) == ()


def test_markers_are_no_quantities() -> None:
    assert quantities("It was so.[12][3] And [4] so it is [4, 5], 7.") == quantities("7")


def test_a_quantity_says_how_it_was_spelt_and_how_exact_it_is() -> None:
    (found,) = quantities("about 2 million")
    assert (found.kind, found.low, found.high, found.exact) == ("number", 2_000_000, 2_000_000, False)
    assert found.text == "2 million"
    assert {q.text for q in quantities("in the 1990s")} == {"1990s"}


def test_readings_of_an_ambiguous_date_and_number() -> None:
    assert {(q.month, q.day) for q in quantities("3/8/2022")} == {(8, 3), (3, 8)}
    assert {q.low for q in quantities("1.234", "")} == {1234, Fraction("1.234")}


_WHOLE = st.integers(0, 10**12)


def _values(text: str, language: str = "en") -> set[Fraction]:
    return {q.low for q in quantities(text, language) if q.kind == "number"}


@given(_WHOLE)
def test_a_number_in_digits_reads_back(value: int) -> None:
    grouped = f"{value:,}"
    assert _values(str(value)) == _values(grouped) == {value}
    for language, sign in [("de", "."), ("fr", "\u202f"), ("fr", "\u00a0"), ("fr", " "), ("pl", " "), ("es", ".")]:
        assert value in _values(grouped.replace(",", sign), language)
    assert _values(str(value).translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")), "ar") == {value}


@given(_WHOLE, st.integers(0, 99))
def test_a_decimal_reads_back_by_its_language(value: int, hundredths: int) -> None:
    exact = value + Fraction(hundredths, 100)
    assert _values(f"{value:,}.{hundredths:02d}") == {exact}
    assert _values(f"{value:,}.{hundredths:02d}".translate(str.maketrans(",.", ".,")), "de") == {exact}


def test_a_long_number_in_words_is_read_to_its_end() -> None:
    spelt = "two hundred and forty-nine million nine hundred and ninety-nine thousand nine hundred and twenty-one"
    assert _values(spelt) == {249_999_921}


@pytest.mark.parametrize("text", ["x¹", "¹", "m²", "①", "Ⅻ", "१²"])
def test_raised_and_circled_digits_are_no_hindrance(text: str) -> None:
    assert missing(text, [text]) == ()


_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
_ONES += ["seventeen", "eighteen", "nineteen"]
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def _in_words(value: int, joint: str) -> str:
    """A number below a thousand million in English words."""
    for size, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if value >= size:
            rest = value % size
            behind = f" {joint if size == 100 else ''} {_in_words(rest, joint)}" if rest else ""
            return " ".join(f"{_in_words(value // size, joint)} {name}{behind}".split())
    if value < 20:
        return _ONES[value]
    return _TENS[value // 10 - 2] + (f"-{_ONES[value % 10]}" if value % 10 else "")


@given(st.integers(0, 10**9 - 1), st.sampled_from(["and", ""]))
def test_a_number_in_english_words_reads_back(value: int, joint: str) -> None:
    assert _values(_in_words(value, joint)) == {value}


_EINS = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn".split()
_EINS += ["siebzehn", "achtzehn", "neunzehn"]
_ZEHNER = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def _in_german(value: int) -> str:
    """A number below a million in German words, "ein" for one."""
    for size, name in ((1000, "tausend"), (100, "hundert")):
        if value >= size:
            return f"{_in_german(value // size)}{name}{_in_german(value % size) if value % size else ''}"
    if value < 20:
        return _EINS[value]
    return (f"{_EINS[value % 10]}und" if value % 10 else "") + _ZEHNER[value // 10 - 2]


@given(st.integers(2, 10**6 - 1))
def test_a_number_in_german_words_reads_back(value: int) -> None:
    spelt = _in_german(value)
    assert _values(spelt + "s" if value % 100 == 1 else spelt, "de") == {value}


@given(st.integers(1, 999))
def test_a_number_with_a_multiplier_reads_back(value: int) -> None:
    for language, names in {
        "en": ("thousand", "million", "billion"),
        "de": ("Tausend", "Millionen", "Milliarden"),
        "fr": ("mille", "millions", "milliards"),
        "es": ("mil", "millones", "mil millones"),
        "it": ("mila", "milioni", "miliardi"),
        "pt": ("mil", "milhões", "bilhões"),
        "pl": ("tys.", "mln", "mld"),
        "ru": ("тыс.", "млн", "млрд"),
        "ar": ("ألف", "مليون", "مليار"),
    }.items():
        for name, scale in zip(names, (10**3, 10**6, 10**9), strict=True):
            assert _values(f"{value} {name}", language) == {value * scale}, (language, name)


@given(st.dates(date(1000, 1, 1), date(2199, 12, 31)))
def test_a_day_is_held_in_any_spelling(day: date) -> None:
    sentence = f"It was on {day:%B} {day.day}, {day.year}."
    for source in (
        f"It was on {day.day} {day:%B} {day.year}.",
        day.isoformat(),
        f"{day:%b}. {day.day}, {day.year}",
        f"{day.year}年{day.month}月{day.day}日",
    ):
        assert missing(sentence, [source]) == ()
    after = day + timedelta(1)
    assert missing(sentence, [after.isoformat()])


_SHORT = {9: ("Sep", "Sept")}


@st.composite
def _english_dates(draw: st.DrawFn, day: date) -> str:
    """A day as English texts spell it: the month short or long, the day an ordinal or not, before or behind it."""
    short = draw(st.sampled_from(_SHORT.get(day.month, (f"{day:%b}",))))
    month = draw(st.sampled_from([f"{day:%B}", short, f"{short}.", f"{day:%B}".upper(), f"{short.upper()}."]))
    ending = "th" if 11 <= day.day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    nth = f"{day.day}{ending}"
    one = draw(st.sampled_from([str(day.day), nth]))
    year = draw(st.sampled_from([", ", " ", " of "])) + str(day.year)
    of, the = draw(st.sampled_from(["", "of "])), draw(st.sampled_from(["", "the "]))
    in_front = draw(st.sampled_from([f"{month} {one}", f"{month} {the}{nth}", f"{short}.{one}"])) + year
    behind = draw(st.sampled_from([f"{one} {of}{month}{year}", f"{day.day}-{short}-{day.year}"]))
    return draw(st.sampled_from([in_front, behind]))


@given(st.dates(date(1000, 1, 1), date(2199, 12, 31)), st.data())
def test_a_day_is_found_in_every_rendering_of_it(day: date, data: st.DataObject) -> None:
    one, other = data.draw(_english_dates(day)), data.draw(_english_dates(day))
    number = data.draw(st.sampled_from(["", "5. ", "12) ", "Sunday, "]))
    source = f"{number}{other}: Vikings against Seahawks."
    assert missing(f"They met on {one} in the cold.", [source]) == ()
    after = data.draw(_english_dates(day + timedelta(1)))
    assert missing(f"They met on {after} in the cold.", [source]) == (after,)


@pytest.mark.parametrize(
    "source",
    ["Jan. 10th, 2016", "5. Jan. 10th, 2016: -6 degrees.", "Jan.10th, 2016", "10-Jan-2016", "3. Jan. 10, 2016"],
)
def test_an_abbreviated_month_has_its_own_day(source: str) -> None:
    assert missing("It was played on January 10, 2016.", [source]) == ()


_PIECES = st.sampled_from(
    "one two hundred million and a half quarter of 12 1,5 1.5 % – - / 1914 August 3 May BC century 19th the 1990s "
    "XIX siècle 万 三 百 ½ ١ [1] yesterday about nearly zwei quatre vingt mil e y . , ( ' \0 \n 9999999999999999".split(
        " "
    )
)
_LANGUAGES = st.sampled_from(["en", "de", "fr", "es", "it", "pt", "pl", "ru", "ar", "zh", "ja", "", "xx", "e" * 50])


@given(st.one_of(st.text(), st.lists(_PIECES).map(" ".join), st.lists(_PIECES).map("".join)), _LANGUAGES)
def test_any_text_is_read_and_holds_what_it_says(text: str, language: str) -> None:
    for quantity in quantities(text, language):
        assert isinstance(quantity, Quantity)
        assert quantity.text in text
        assert quantity.text
    assert missing(text, [text], dates=["2023-03-02"], language=language) == ()


_OF_EVERY_KIND = (
    "It is so.\n\n5/6-7. It is so. May. It is so. 二月. It is so. 2월. It is so. 60s. It is so. 5 BC. It is so. AD 5. "
    "It is so. 前5. It is so. The 5th century. It is so. Im 5. Jahrhundert. It is so. 三百. It is so.\n\nIt is so."
)


@given(st.one_of(st.text(), st.lists(_PIECES).map(" ".join), st.lists(_PIECES).map("".join)), _LANGUAGES)
def test_quantities_are_found_beside_those_of_other_kinds_and_without(text: str, language: str) -> None:
    """A search that cannot find anything is left out; a text with something for each search leaves out none."""
    text = f"{text}\n\n"
    assert quantities(text + _OF_EVERY_KIND, language) == quantities(text, language) | quantities(
        _OF_EVERY_KIND, language
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["1", "1,", " ", "1 ", "1.1,", "one ", "5万", "三百", "XIX ", "3 August ", "12–", "1/", "[1]", "a half ", "٣"],
)
def test_time_grows_with_the_length(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        start = time.process_time()
        quantities(text)
        return time.process_time() - start

    seconds(1000)
    small = min(seconds(4_000) for _ in range(2))
    assert min(seconds(20_000) for _ in range(3)) < 15 * small + 0.2


def test_a_megabyte_is_read_in_seconds() -> None:
    for unit in ("1", " ", ","):
        start = time.process_time()
        quantities(unit * (1_000_000 // len(unit)))
        assert time.process_time() - start < 10


@pytest.mark.parametrize("name", ["PTQ4DM", "H5N1", "Web2Vec"])
def test_digits_within_a_name_are_no_quantity(name: str) -> None:
    assert missing(f"{name} was studied.", ["It was studied."]) == ()
    assert quantities(f"{name} in RM5m") == quantities("a b in RM5m")
