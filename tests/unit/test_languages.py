"""Languages: which one a text is in, where its sentences end, how many words it has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.evidence.citations import parse_cited
from storm_pipeline.method.outlines import parse_outline
from storm_pipeline.method.writers.drafts import read_draft, read_replies
from storm_pipeline.text.languages import count_words, detect, length_in_words, split_sentences, windows
from storm_pipeline.types import Citation

TEXTS = {
    "en": ["The lighthouse stands on a rock north of the harbour.", "It was built when the old one had burnt down."],
    "de": [
        "Er wurde am 3. August 1871 eröffnet, d. h. nach dem Brand.",
        "Man sieht ihn z. B. von Dr. Meiers Garten aus.",
    ],
    "fr": ["M. Dupont, qui l’a construit, vivait p. ex. à Brest.", "« C’est haut ! » dit-on souvent."],
    "es": ["¿Quién lo construyó?", "La Sra. López cuenta, p. ej. en su libro, que fue el Dr. Ruiz."],
    "it": ["Fu costruito dal dott. Bianchi, che abitava in via S. Marco.", "Oggi è chiuso!"],
    "pt": ["Foi o Dr. Silva que o construiu, p. ex. com a ajuda da Sra. Costa.", "Hoje está fechado."],
    "pl": ["Otwarto ją 3. dnia sierpnia, tj. po pożarze, przy ul. Morskiej.", "Dziś jest zamknięta."],
    "ru": ["Его построил А. С. Иванов, т. е. местный мастер, в 1871 г. после пожара.", "Сегодня он закрыт."],
    "ar": ["تقع المنارة على صخرة شمال الميناء.", "من بناها؟", "هي مغلقة اليوم."],
    "zh": ["灯塔矗立在港口以北的岩石上。", "它是谁建造的？", "今天已经关闭。"],
    "ja": ["灯台は港の北の岩の上に立っている。", "誰が建てたのか？", "今日は閉まっています。"],
}
ALL = [(language, text) for language, texts in TEXTS.items() for text in texts]
UNSPACED = ("zh", "ja")


def solid(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("language", TEXTS)
def test_markers_belong_to_the_sentence_before(language: str) -> None:
    joint = "" if language in UNSPACED else " "
    marked = [f"{text}[1][2]" for text in TEXTS[language]]
    assert split_sentences(joint.join(marked), language) == marked
    apart = [f"{text} [1]" for text in TEXTS[language]]
    assert split_sentences(" ".join(apart), language) == apart


@pytest.mark.parametrize(
    ("language", "pieces"),
    [
        *TEXTS.items(),
        ("de", ["„Er kommt.“", "Sie ging (wie immer).", "Dann war Ruhe."]),
        ("de", ["Es war im 19. Jahrhundert.", "Ludwig XIV. Herrschaft endete 1715.", "Danach kam ein Kind."]),
        ("fr", ["Il dit : « Je viens. »", "Elle part.", "Mme Martin et MM. Dupont restent…", "Puis rien."]),
        ("es", ["¡Qué alto!", "«Es alto.»", "Véase la pág. 12.", "Murió en 44 a. C. en Roma."]),
        ("it", ["Disse: «Vengo.»", "L’on. Rossi partì.", "Nacque nel 1871."]),
        ("pl", ["Urodził się w 1871 r. w Krakowie.", "Prof. Nowak, m.in. Kowalski, tam był.", "Zmarł w 1900 r."]),
        ("ru", ["Он родился в 1871 г.", "Потом жил на ул. Ленина, д. 5.", "Там были дома, сады и т. д.", "Это я."]),
        ("ar", ["قال د. أحمد إن المنارة قديمة.", "هل هي مغلقة؟", "نعم!"]),
        ("zh", ["他说：“灯塔很高。”", "我们走吧！", "好。"]),
        ("ja", ["「高い。」と彼は言った。", "行こう！", "はい。"]),
        ("ja", ["Ver. 2.0が出た。", "次は3.0だ。"]),
        ("hi", ["प्रकाशस्तंभ चट्टान पर है।", "वह ऊँचा है।"]),
        ("", ["Majakka seisoo kalliolla.", "Se on korkea?", "On."]),
        ("en", ["It is in Super Smash Bros. Brawl.", "It is by Warner Bros.", "The rest is Jeopardy! (the game)."]),
        ("en", ["He played for the Nova Jr. X Men.", "It is named after Cal Ripken Jr.", "He left in 2001."]),
        ("en", ["It went to Walsh Co. II LLC and Fluor Enterprises Inc.", "Work on it began at once."]),
        ("en", ["It was built in Stage B.", "The vitamin is A. B. Smith's."]),
        ("en", ["Those of Prunus subg. Prunus are so.", "Figs. 3 and 4 are in vol. II.", "He led a sect.", "It grew."]),
    ],
)
def test_sentences_of_a_paragraph(language: str, pieces: list[str]) -> None:
    joint = "" if language in UNSPACED else " "
    assert split_sentences(joint.join(pieces), language) == pieces


def test_a_line_ends_a_sentence_unless_it_goes_on_in_small_letters() -> None:
    assert split_sentences("Überschrift\nDer Turm steht\nauf einem Felsen.\n\nund so", "de") == [
        "Überschrift",
        "Der Turm steht\nauf einem Felsen.",
        "und so",
    ]


@pytest.mark.parametrize("language", ["en", "de", "ja", ""])
@pytest.mark.parametrize(
    "pieces",
    [
        ["Nintendo released Kururin Squash! for the GameCube.", "It sold well."],
        ["Kururin Squash! (くるりんスカッシュ！) is a game [1].", "It has bosses [2]."],
        ["In Kururin Squash! [2] the boat turns.", "It turns."],
        ["They liked Kururin Squash! [3]", "Nintendo sold it."],
        ["They liked “Kururin Squash!”", "Nintendo sold it."],
    ],
)
def test_a_name_with_a_stop_is_not_cut(pieces: list[str], language: str) -> None:
    assert split_sentences(" ".join(pieces), language, ["Kururin Squash!", "", "!"]) == pieces


_PIECES = st.sampled_from(
    [
        *(text for _, text in ALL),
        *(". ", "! ", "。", "؟ ", " z. B. ", "[1]", " [2, 3] ", "“", "»", "\n", "\n\n", "A.", "3.", "а", "…"),
        *('"', "(", ") ", "«", "Dr. ", "U.S. ", "No. 5", "[1].", "*"),
    ]
)
_TEXTS = st.one_of(st.text(), st.lists(_PIECES).map("".join))
_LANGUAGES = st.sampled_from([*TEXTS, "uk", "", "xx"])


@given(_TEXTS, _LANGUAGES)
def test_no_text_is_lost_by_splitting_and_no_sentence_split_again(text: str, language: str) -> None:
    pieces = split_sentences(text, language)
    assert solid("".join(pieces)) == solid(text)
    assert all(piece and piece == piece.strip() for piece in pieces)
    rest = text
    for piece in pieces:
        _, found, rest = rest.partition(piece)
        assert found
        assert split_sentences(piece, language) == [piece]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        *ALL,
        ("nl", "De vuurtoren staat op een rots ten noorden van de haven en is niet meer in gebruik."),
        ("uk", "Маяк стоїть на скелі на північ від порту."),
        ("bg", "Фарът се намира на скала, която е над морето, и е затворен днес; той е най-старият тъмен фар."),
        ("fa", "فانوس دریایی روی صخره‌ای در شمال بندر است و چراغ آن پیداست."),
        ("el", "Ο φάρος στέκεται σε έναν βράχο."),
        ("ko", "등대는 항구 북쪽 바위 위에 서 있다."),
        ("en", "The word 灯塔 means lighthouse in Chinese, and it is also the title of a film."),
        ("zh", "灯塔（lighthouse）是位于海岸的塔状建筑，英文为 lighthouse。"),
    ],
)
def test_a_sentence_s_language_is_told(language: str, text: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize("text", ["", " ", "12 345", "Berlin", "Xylophon Quarz Kybernetik", "!?", "а"])
def test_what_is_too_short_has_no_language(text: str) -> None:
    assert detect(text) == ""


def test_chinese_and_japanese_ask_for_as_much_text_as_english() -> None:
    assert count_words("灯塔矗立在港口以北的岩石上。") == 9  # "The lighthouse stands on a rock north of the harbour."
    assert count_words("灯台は港の北の岩の上に立っている。") == 8
    assert count_words("ประภาคาร") == 2
    assert count_words("The 灯塔 stands") == 2 + 2
    assert length_in_words("塔é" + " " * 1_000_000) == 2  # looking behind each space takes an hour


HAN = "丝绸之路是古代连接东西方的商贸路线起源于西汉时期经甘肃新疆到中亚西亚并联结地中海各国"
MIXED = st.text(HAN + "。，、シルクロード は。ab 1", max_size=300)


@given(MIXED, st.integers(2, 40))
def test_windows_of_any_text_are_short_and_lose_nothing(text: str, size: int) -> None:
    parts = windows(text, size, size)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(length_in_words(part) <= size + 1 for part in parts)


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("zh", "它建于1871年[1]。设计者是林国强[2]，后来改建。", ["它建于1871年。", "设计者是林国强，后来改建。"]),
        ("zh", "灯塔[1]建于1871年。", ["灯塔建于1871年。"]),
        ("ar", "من بناها [1]؟ بناها أحمد سالم [2]، ثم رممت.", ["من بناها؟", "بناها أحمد سالم، ثم رممت."]),
        ("fr", "Qui l’a bâti [1] ? Il dit : « Moi ! » [2]", ["Qui l’a bâti ?", "Il dit : « Moi ! »"]),
        ("en", "Who built it [1] ? He did [2] .", ["Who built it?", "He did."]),
    ],
)
def test_markers_leave_no_trace_in_the_text(language: str, text: str, told: list[str]) -> None:
    assert [s.text for s in parse_cited(text, [Citation("a", "1"), Citation("b", "2")], language).sentences] == told


@pytest.mark.parametrize(
    ("language", "reply", "sentence"),
    [
        ("zh", "1：它建于1871年。它很高。[1]｜“建于1871年”", "它建于1871年。它很高。"),
        ("zh", "1、它建于1871年。[1]", "它建于1871年。"),
        ("ar", "١: بني عام 1871.[1]", "بني عام 1871."),
        ("de", "1. Er wurde 1871 gebaut.[1]", "Er wurde 1871 gebaut."),
        ("zh", "1：delete", None),
        ("ar", "١: delete", None),
    ],
)
def test_replies_to_remarks_are_read_in_any_language(language: str, reply: str, sentence: str | None) -> None:
    claim = read_replies(reply, 2, language)[1].claim
    assert (claim.text if claim else None) == sentence


@pytest.mark.parametrize(
    ("language", "outline", "left"),
    [
        ("de", "# Einleitung\n# Geschichte\n# Fazit\n# Einzelnachweise\n# Weblinks", ["Geschichte"]),
        ("ru", "# Введение\n# История\n# Примечания\n# Литература", ["История"]),
        ("zh", "# 引言\n# 第一章 历史\n# 二、技术\n# 参考文献", ["历史", "技术"]),
        ("zh", "1、历史\n2、技术\n3、参考资料", ["历史", "技术"]),
        ("zh", "# 第一次世界大战\n# 三国时代", ["第一次世界大战", "三国时代"]),
        ("ja", "# 概要\n# 歴史\n# 脚注", ["歴史"]),
    ],
)
def test_headings_of_no_sections_are_known_in_every_language(language: str, outline: str, left: list[str]) -> None:
    assert [heading.title for heading in parse_outline(outline, f"x {language}").sections] == left


@pytest.mark.parametrize(
    ("language", "line", "text"),
    [
        ("de", "1. September 1939 war ein Freitag.", "1. September 1939 war ein Freitag."),
        ("de", "1. Der Turm steht am Hafen.", "Der Turm steht am Hafen."),
        ("en", "1. September 1939 was warm.", "September 1939 was warm."),
        ("zh", "1、灯塔建于港口。", "灯塔建于港口。"),
    ],
)
def test_a_date_that_opens_a_line_is_no_number_of_a_list(language: str, line: str, text: str) -> None:
    assert [claim.text for claim in read_draft(line, 1, language).claims()] == [text]
