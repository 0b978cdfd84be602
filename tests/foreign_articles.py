"""Facts on one topic in several languages: as a source says them, and as a writer would."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Told:
    """A fact: what a page says, and a sentence of an article that rests on it."""

    source: str
    written: str


@dataclass(frozen=True)
class Language:
    """What a scripted run in a language is made of.

    Attributes:
        code: ISO 639-1.
        topic: of the article.
        question: that every interview begins with.
        farewell: what ends an interview.
        delete: how a model of that language says that a sentence is to go, behind the number of the remark.
        outline: headings, of which the first one and the last one are no sections.
        sections: what each section tells.
        lead: the article's opening; the numbers are those of body sentences.
        unsupported: a sentence that no source says.
        references: heading of the list of references.
        words: least and most words of the body.
    """

    code: str
    topic: str
    question: str
    farewell: str
    delete: str
    outline: tuple[str, ...]
    sections: tuple[tuple[Told, ...], ...]
    lead: tuple[str, ...]
    unsupported: str
    references: str
    words: tuple[int, int]


GERMAN = Language(
    "de",
    "Leuchtturm Nordkap",
    "Wann wurde der Leuchtturm Nordkap gebaut, und von wem?",
    "Vielen Dank für Ihre ausführlichen Auskünfte!",
    "1: löschen",
    ("Einleitung", "Baugeschichte", "Technik", "Einzelnachweise"),
    (
        (
            Told(
                "Der Leuchtturm Nordkap wurde am 3. August 1871 nach vier Jahren Bauzeit feierlich eröffnet.",
                "Nach einer Bauzeit von vier Jahren ging der Leuchtturm am 3. August 1871 in Betrieb.",
            ),
            Told(
                "Die Pläne zeichnete der Baurat Karl Meier, der zuvor z. B. den Hafen von Emden entworfen hatte.",
                "Entworfen hat ihn der Baurat Karl Meier, von dem z. B. auch der Emder Hafen stammt.",
            ),
            Told(
                "Ein Brand zerstörte im Winter 1902 das Wärterhaus, nicht aber den Turm selbst.",
                "Im Winter 1902 brannte das Haus der Wärter ab; der Turm wurde dabei nicht zerstört.",
            ),
        ),
        (
            Told(
                "Das Feuer des Turms steht 42 Meter über dem Meer und ist 19 Seemeilen weit zu sehen.",
                "Das Feuer, 42 Meter über dem Meer gelegen, sieht man noch aus 19 Seemeilen Entfernung.",
            ),
            Told(
                "Bis 1964 brannte eine Petroleumlampe; seither leuchtet eine elektrische Lampe von 1000 Watt.",
                "„Erst seit 1964“, so die Chronik, leuchtet statt des Petroleums eine elektrische Lampe mit 1000 Watt.",
            ),
        ),
    ),
    (
        "Der Leuchtturm Nordkap ist ein 1871 eröffneter Turm mit einem Feuer von 19 Seemeilen Reichweite.[1][4]",
        "Sein Architekt war Karl Meier.[2]",
    ),
    "Im Jahr 1955 besuchten ihn 77.000 Gäste aus Übersee.",
    "Einzelnachweise",
    (55, 90),
)
CHINESE = Language(
    "zh",
    "北角灯塔",
    "北角灯塔是什么时候由谁建造的？",
    "非常感谢您的详细解答！",
    "1：删除",
    ("引言", "建造历史", "技术", "参考文献"),
    (
        (
            Told(
                "北角灯塔经过四年施工，于1871年8月3日正式启用，是当地最古老的灯塔。",
                "1871年8月3日，历时四年建成的灯塔投入使用，在当地历史最为悠久。",
            ),
            Told(
                "灯塔由工程师林国强设计，他此前主持修建了青岛港的防波堤。",
                "设计者是曾负责青岛港防波堤工程的工程师林国强。",
            ),
            Told(
                "1902年冬天的一场大火烧毁了看守人的住所，但塔身没有受损。",
                "看守人的房子在1902年冬季毁于火灾，塔身则未受损坏。",
            ),
        ),
        (
            Told(
                "灯塔的灯光高出海面42米，在19海里以外仍然可以看见。",
                "灯光位于海面以上42米处，19海里之外的船只也能看见。",
            ),
            Told(
                "1964年以前使用煤油灯，此后改用功率为1000瓦的电灯。",
                "从1964年起，“煤油灯”被1000瓦的电灯所取代。",
            ),
        ),
    ),
    ("北角灯塔是1871年投入使用的灯塔，灯光在19海里之外也能看见。[1][4]", "它由林国强设计。[2]"),
    "1955年有77000名海外游客前来参观。",
    "参考文献",
    (55, 100),
)
ARABIC = Language(
    "ar",
    "منارة الرأس الشمالي",
    "متى بنيت منارة الرأس الشمالي ومن بناها؟",
    "شكرا جزيلا على هذه المعلومات المفيدة.",
    "1: احذف",
    ("مقدمة", "تاريخ البناء", "التقنية", "المراجع"),
    (
        (
            Told(
                "افتتحت منارة الرأس الشمالي في 3 أغسطس 1871 بعد أربع سنوات من أعمال البناء.",
                "بعد أعمال بناء استمرت أربع سنوات دخلت المنارة الخدمة في 3 أغسطس 1871.",
            ),
            Told(
                "وضع تصميم المنارة المهندس أحمد سالم الذي أشرف من قبل على بناء ميناء المدينة القديم.",
                "صممها المهندس أحمد سالم، وهو الذي أشرف قبل ذلك على ميناء المدينة القديم.",
            ),
            Told(
                "دمر حريق في شتاء عام 1902 بيت الحراس ولكنه لم يصل إلى برج المنارة.",
                "في شتاء عام 1902 أتى حريق على بيت الحراس، غير أن البرج لم يتضرر منه.",
            ),
        ),
        (
            Told(
                "يرتفع ضوء المنارة 42 مترا فوق سطح البحر ويرى من مسافة 19 ميلا بحريا.",
                "يرى الضوء من مسافة 19 ميلا بحريا، فهو على ارتفاع 42 مترا فوق البحر.",
            ),
            Told(
                "كان المصباح يعمل بالكيروسين حتى عام 1964 ثم حل محله مصباح كهربائي بقوة 1000 واط.",
                "منذ عام 1964 حل مصباح كهربائي بقوة 1000 واط محل «مصباح الكيروسين».",
            ),
        ),
    ),
    ("منارة الرأس الشمالي برج افتتح عام 1871 ويرى ضوؤه من مسافة 19 ميلا بحريا.[1][4]", "صممها أحمد سالم.[2]"),
    "زارها في عام 1955 نحو 77000 سائح من الخارج.",
    "المراجع",
    (45, 80),
)
