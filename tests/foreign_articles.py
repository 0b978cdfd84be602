"""Facts on one topic in several languages, full of numbers and dates: as a source says them, and as a writer would."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Told:
    """A fact: what a page says, and a sentence of an article that rests on it."""

    source: str
    written: str


@dataclass(frozen=True)
class Language:
    """What a scripted run in a language is made of.

    The first and the last heading of its outline are no sections; ``wrong`` is a sentence on the last fact with a
    number that its source lacks; ``words`` are the least and the most of the body.
    """

    code: str
    topic: str
    question: str
    outline: tuple[str, ...]
    sections: tuple[tuple[Told, ...], ...]
    lead: tuple[str, ...]
    wrong: str
    number: str
    references: str
    words: tuple[int, int]


GERMAN = Language(
    "de",
    "Nordbrücke",
    "Wann wurde die Nordbrücke gebaut, und was kostete sie?",
    ("Einleitung", "Bau", "Nutzung", "Einzelnachweise"),
    (
        (
            Told(
                "Die Nordbrücke wurde am 3. Oktober 1990 für den Verkehr freigegeben. Fünf Jahre zuvor, am 2.9.1985, "
                "hatte Dr. Anna Weiß, die 1. Bürgermeisterin der Stadt, den Grundstein gelegt.",
                "Dr. Anna Weiß, die 1. Bürgermeisterin der Stadt, legte am 2. September 1985 den Grundstein; für den "
                "Verkehr freigegeben wurde die Brücke am 3. Oktober 1990.",
            ),
            Told(
                "Der Bau der Nordbrücke kostete 48,7 Millionen Mark und damit 1,5 Millionen Mark mehr als geplant. Das "
                "Land übernahm davon zwei Drittel.",
                "Der Bau wurde mit 48,7 Mio. Mark um 1.500.000 Mark teurer als geplant; zwei Drittel zahlte das Land.",
            ),
            Told(
                "An ihrer Stelle verkehrte seit dem 19. Jahrhundert eine Fähre. Im Jahr 1903 kam eine 2. Fähre hinzu, "
                "die bis in die 1930er Jahre fuhr.",
                "Seit dem 19. Jahrhundert hatte an dieser Stelle eine Fähre verkehrt, ab 1903 dazu eine zweite, die "
                "noch in den 1930er Jahren fuhr.",
            ),
        ),
        (
            Told(
                "In 2014 the North Bridge carried 62,400 vehicles a day, 12.5 percent of them lorries. In the same "
                "year 1.5 million people crossed it on foot or by bicycle.",
                "Im Jahr 2014 fuhren täglich 62.400 Fahrzeuge über die Brücke, davon 12,5 Prozent Lastwagen; 1,5 "
                "Millionen Menschen überquerten sie in diesem Jahr zu Fuß oder mit dem Fahrrad.",
            ),
            Told(
                "Bei einer Prüfung am 12.03.2017 fanden die Ingenieure der Stadt ca. 340 Risse in der Nordbrücke, "
                "z. B. an den Lagern. Die Ausbesserung begann im April 2018.",
                "Am 12. März 2017 fanden Ingenieure bei einer Prüfung ca. 340 Risse, z. B. an den Lagern, deren "
                "Ausbesserung im April 2018 begann.",
            ),
            Told(
                "Gesperrt war die Nordbrücke vom 1. Mai 2018 bis zum 30. September 2019. Solange fuhr eine Fähre.",
                "Vom 1. Mai 2018 bis zum 30. September 2019 war die Brücke gesperrt; solange fuhr eine Fähre.",
            ),
        ),
    ),
    ("Die Nordbrücke ist eine am 3. Oktober 1990 für den Verkehr freigegebene Brücke.[1]",),
    "Die Fähre fuhr, solange die Brücke gesperrt war, vom 1. Mai 2018 bis zum 30. September 2016.",
    "2016",
    "Einzelnachweise",
    (120, 140),
)
JAPANESE = Language(
    "ja",
    "北大橋",
    "北大橋はいつ建設され、費用はいくらでしたか？",
    ("概要", "建設", "利用", "脚注"),
    (
        (
            Told(
                "北大橋は1990年10月3日に開通した。着工は1985年9月2日で、工事にはおよそ5年を要した。",
                "1985年9月2日に着工され、およそ5年の工事を経て1990年10月3日に開通した。",
            ),
            Told(
                "北大橋の総工費は150億円で、当初の見積もりを1億5000万円上回った。その3分の2は県が負担した。",
                "見積もりを1億5000万円上回る150億円が総工費としてかかり、県が3分の2を負担した。",
            ),
            Told(
                "橋のある場所では19世紀から渡し船が運航していた。1903年には第2の渡し船が加わり、1930年代まで続いた。",
                "19世紀からこの場所にあった渡し船は、1903年に第2の船が加わり、1930年代まで運航を続けた。",
            ),
        ),
        (
            Told(
                "In 2014 the North Bridge carried 62,400 vehicles a day, 12.5 percent of them lorries. In the same "
                "year 1.5 million people crossed it on foot or by bicycle.",
                "2014年には1日に6万2400台の車が通り、その12.5%がトラックで、徒歩や自転車では150万人が渡った。",
            ),
            Told(
                "2017年3月12日の点検で、市の技術者は北大橋に約340か所のひびを見つけた。補修は2018年4月に始まった。",
                "市の技術者が2017年3月12日に点検した際、約340か所のひびが見つかり、2018年4月から補修された。",
            ),
            Told(
                "北大橋は2018年5月1日から2019年9月30日まで閉鎖された。その間は再び渡し船が運航した。",
                "閉鎖は2018年5月1日から2019年9月30日まで続き、その間は再び渡し船が運航した。",
            ),
        ),
    ),
    ("北大橋は1990年10月3日に開通した橋である。[1]",),
    "閉鎖中の2018年5月1日から2016年9月30日までは渡し船が運航した。",
    "2016",
    "出典",
    (120, 140),
)
ARABIC = Language(
    "ar",
    "منارة الرأس الشمالي",
    "متى بنيت منارة الرأس الشمالي ومن بناها؟",
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
    "منذ عام 1964 حل مصباح كهربائي بقوة 7000 واط محل «مصباح الكيروسين».",
    "7000",
    "المراجع",
    (45, 80),
)
