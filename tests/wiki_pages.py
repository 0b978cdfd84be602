"""Pages as Wikipedia has them, in wikitext and in MediaWiki's HTML, with the works that each sentence cites."""

import html
import random
from dataclasses import dataclass, field
from urllib.parse import urlencode

KINDS = {
    "cite web": "website",
    "cite news": "newspaper",
    "cite book": "publisher",
    "cite journal": "journal",
    "cite magazine": "magazine",
    "cite encyclopedia": "encyclopedia",
    "cite report": "publisher",
    "cite thesis": "publisher",
    "cite press release": "publisher",
    "cite conference": "book-title",
    "cite AV media": "publisher",
    "citation": "publisher",
}
"""Citation template → the parameter of what contains or publishes its works."""
PLACED = ("cite web", "cite news", "cite press release", "cite AV media", "cite report")
"""Templates whose works are on the web in these pages; those of others are printed."""
WAYS = "full named before listed sfn sfnp harvnb bundle harvs sfnm r rp harv short ibid dead archived only group"
FAMILIES = (
    "Aalto Brandt Castner Dahl Eide Falk Geer Holt Iversen Juhl Kane Lund Moe Nygård O'Hara Pohl Rask Sund".split()
)
GIVEN = ("Ada", "Bo", "C. J.", "Dag")
THINGS = ("dam", "lake", "mill", "quay", "bridge", "tower", "ferry", "canal", "school", "market")
PLACES = ("Orrin", "Valmere", "Tarn", "Bergen", "Sund", "Kolding", "Drammen")


@dataclass(frozen=True)
class Cited:
    """A work, as it is stated."""

    template: str
    people: tuple[tuple[str, str], ...]  # family and given names; an organisation has no given name
    year: int
    title: str
    place: str
    url: str

    @property
    def names(self) -> list[str]:
        return [family for family, _ in self.people][:4]

    @property
    def anchor(self) -> str:
        return "CITEREF" + "".join(self.names).replace(" ", "_") + str(self.year)


@dataclass
class Page:
    """A page in both forms."""

    wikitext: str = ""
    html: str = ""
    expected: list[tuple[str, list[Cited]]] = field(default_factory=list)
    """Every sentence in the order of the text, notes after their section, and the works that it cites."""


class Writer:
    """Writes one page; equal seeds write equal ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.number = 0
        self.page = Page()
        self.works = [self.work(place) for place in range(14)]
        self.sourced = self.works[:6]  # in the list of works cited; the others are cited in full
        self.names: dict[Cited, str] = {}
        self.entries: list[tuple[str, str]] = []  # id and contents of the HTML's notes
        self.listed: list[str] = []  # definitions in the list of references
        self.last: Cited | None = None

    def work(self, place: int) -> Cited:
        template = list(KINDS)[(self.seed + place) % len(KINDS)]
        family = FAMILIES[(self.seed * 5 + place) % len(FAMILIES)]
        others = self.random.sample([f for f in FAMILIES if f != family], self.random.choice([0, 0, 1, 2, 4]))
        people = [(name, self.random.choice(GIVEN)) for name in [family, *others]]
        if place == 5:
            people = [("Board of Works", "")]
        title = f"The {self.random.choice(THINGS)} of {self.random.choice(PLACES)}, part {self.seed}-{place}"
        url = f"https://site{place}.example/{self.seed}?a=1&b={place}" if template in PLACED else ""
        contained = f"{self.random.choice(PLACES)} Press"
        return Cited(template, tuple(people), self.random.randint(1900, 2020), title, contained, url)

    def stated(self, work: Cited) -> str:
        fields: list[tuple[str, str]] = []
        many = len(work.people) > 1
        style = self.random.choice(["last", "author", "surname"])
        for n, (family, given) in enumerate(work.people, 1):
            number = str(n) if many or self.random.random() < 0.3 else ""
            if not given:
                fields.append((f"author{number}", family))
            else:
                fields.append(((f"author{number}-last" if style == "author" else f"{style}{number}"), family))
                fields.append(((f"author{number}-first" if style == "author" else f"first{number}"), given))
        day = self.random.choice(["{y}", "3 May {y}", "May 3, {y}", "{y}-05-03", "Spring {y}"]).format(y=work.year)
        fields.append(("year" if day == str(work.year) and self.random.random() < 0.5 else "date", day))
        fields += [("title", self.random.choice(["{}", "''{}''", "[[Page|{}]]"]).format(work.title))]
        fields.append((KINDS[work.template], work.place))
        if work.url:
            fields += [("url", work.url), ("access-date", "2 March 2021")]
            if self.random.random() < 0.4:
                fields += [
                    ("archive-url", f"https://web.archive.org/web/2021/{work.url}"),
                    ("archive-date", "2021-01-01"),
                ]
                fields += [("url-status", "dead")]
        if self.random.random() < 0.4:
            fields += [("page", "1899"), ("language", "en")]
        if not work.people[0][1]:
            fields.append(("ref", f"{{{{harvid|{work.people[0][0]}|{work.year}}}}}"))
        self.random.shuffle(fields)
        gap = self.random.choice([" |{}={}", "|{}={}", "\n| {} = {}"])
        name = work.template.replace(" ", "_") if self.random.random() < 0.1 else work.template
        name = name.capitalize() if name != "cite AV media" and self.random.random() < 0.3 else name
        return f"{{{{{name}" + "".join(gap.format(*pair) for pair in fields) + "}}"

    def element(self, work: Cited) -> str:
        people = "; ".join(", ".join(filter(None, person)) for person in work.people)
        shown = html.escape(work.title)
        if work.url:
            shown = f'<a rel="nofollow" class="external text" href="{html.escape(work.url)}">{shown}</a>'
        coins = [("ctx_ver", "Z39.88-2004"), ("rft.genre", "unknown"), ("rft.btitle", work.title)]
        coins += [("rft.date", str(work.year)), ("rft.aulast", work.people[0][0]), ("rft.pub", work.place)]
        coins += [
            ("rft.aufirst", work.people[0][1]),
            *(("rft.au", f"{last}, {first}") for last, first in work.people[1:]),
        ]
        coins += [("rft_id", work.url)] if work.url else []
        author = '<a href="https://en.wikipedia.org/wiki/Author">' + html.escape(people) + "</a>"
        name = f'id="{html.escape(work.anchor)}"' if work in self.sourced else ""  # as of works without an author
        return (
            f'<cite {name} class="citation {work.template.split()[-1]} cs1">{author} '
            f"({work.year}). <i>{shown}</i>. {work.place}.</cite>"
            f'<span title="{html.escape(urlencode(coins))}" class="Z3988"></span>'
        )

    def mark(self, name: str, contents: str, label: str = "") -> str:
        place = next((i for i, (known, _) in enumerate(self.entries, 1) if known == name), 0)
        if not place:
            self.entries.append((name, contents))
            place = len(self.entries)
        return (
            f'<sup id="cite_ref-{name}_{place}-0" class="reference"><a href="#cite_note-{name}-{place}">'
            f'<span class="cite-bracket">[</span>{label or place}<span class="cite-bracket">]</span></a></sup>'
        )

    def short_link(self, work: Cited, page: str = "") -> str:
        return f'<a href="#{work.anchor}">{html.escape(" & ".join(work.names))} {work.year}</a>{page}'

    def named(self, work: Cited) -> str:
        return self.names.setdefault(work, f"n{len(self.names)}")

    def once(self) -> tuple[str, str, list[Cited]]:
        """A citation of one or two works, in any of the ways that a sentence may have."""
        way = self.random.choice(WAYS.split())
        if way == "ibid" and self.last not in self.sourced:
            way = "short"
        full, other = self.random.sample(self.works[6:], 2)
        own, second = self.random.sample(self.sourced, 2)
        page = self.random.randint(1, 400)
        fresh = f"x{len(self.entries)}"
        args = "|".join([*own.names, str(own.year)])
        more = "|".join([*second.names, str(second.year)])
        name = self.named(full)
        reuse = self.random.choice([f'<ref name="{name}" />', f"<ref name={name}/>", f'<ref name="{name}"></ref>'])
        element = self.mark(name, self.element(full)) if way in {"named", "before", "listed", "r", "rp"} else ""
        match way:
            case "full":
                return f"<ref>{self.stated(full)}</ref>", self.mark(fresh, self.element(full)), [full]
            case "named" if not any(f'"{name}"' in own for own in self.listed):
                self.listed.append(f'<!-- "{name}" -->')
                return f'<ref name="{name}">{self.stated(full)}</ref>', element, [full]
            case "named" | "before" | "listed":
                if not any(f'"{name}"' in own for own in self.listed):
                    self.listed.append(f'<ref name="{name}">{self.stated(full)}</ref>')
                return reuse, element, [full]
            case "r" | "rp":
                if not any(f'"{name}"' in own for own in self.listed):
                    self.listed.append(f'<ref name="{name}">{self.stated(full)}</ref>')
                if way == "rp":
                    return f"{reuse}{{{{rp|{page}–{page + 2}}}}}", element, [full]
                return f"{{{{r|{name}|p1={page}}}}}", element, [full]
            case "sfn" | "sfnp":
                mark = self.mark(f"FOOTNOTE{own.anchor}{page}", f"{self.short_link(own)}, p. {page}.")
                return f"{{{{{self.random.choice([way, way.capitalize()])}|{args}|p={page}}}}}", mark, [own]
            case "sfnm":
                numbered = [
                    "|".join([*(f"{n}a{i}={x}" for i, x in enumerate(w.names, 1)), f"{n}y={w.year}", f"{n}p={page}"])
                    for n, w in ((1, own), (2, second))
                ]
                mark = self.mark(fresh, f"{self.short_link(own)}, p. 1; {self.short_link(second)}, p. {page}.")
                return f"{{{{sfnm|{'|'.join(numbered)}}}}}", mark, [own, second]
            case "harvnb":
                return (
                    f"<ref>See {{{{harvnb|{args}|p={page}}}}}.</ref>",
                    self.mark(fresh, f"See {self.short_link(own, f', p. {page}')}."),
                    [own],
                )
            case "harvs":
                mark = self.mark(fresh, f"{self.short_link(own)}; {self.short_link(second)}.")
                return f"<ref>{{{{harvnb|{args}}}}}; {{{{harvnb|{more}|pp=3–4}}}}</ref>", mark, [own, second]
            case "bundle":
                both = f"<ref>\n* {self.stated(full)}\n* {self.stated(other)}\n</ref>"
                listed = f"<ul><li>{self.element(full)}</li><li>{self.element(other)}</li></ul>"
                return both, self.mark(fresh, listed), [full, other]
            case "harv":
                mark = self.mark(fresh, f"{self.short_link(own)}.")
                return f"{{{{refn|{{{{harvnb|{args}}}}}}}}}", mark, [own]
            case "short" | "ibid":
                if way == "ibid" and self.last:
                    return f"<ref>Ibid., p. {page}.</ref>", self.mark(fresh, f"Ibid., p. {page}."), [self.last]
                text = f"{' & '.join(own.names)} {own.year}, p. {page}."
                return f"<ref>{text}</ref>", self.mark(fresh, html.escape(text)), [own]
            case "dead":
                dead = "{{dead link|date=May 2020|bot=X}}{{cbignore|bot=X}}"
                return f"<ref>{self.stated(full)} {dead}</ref>", self.mark(fresh, self.element(full)), [full]
            case "archived":
                old = "{{webarchive |url=https://web.archive.org/web/1/x |date=2 May 2010 |title=Archived}}"
                return f"<ref>{self.stated(full)} {old}</ref>", self.mark(fresh, self.element(full)), [full]
            case "only":
                work = Cited(
                    "link", (), 0, f"Notice {len(self.entries)}", "", f"https://notice.example/{len(self.entries)}"
                )
                link = f'<a rel="nofollow" class="external text" href="{work.url}">{work.title}</a>'
                text = f"[{work.url} {work.title}]. Accessed 3 May 2021."
                return f"<ref>{text}</ref>", self.mark(fresh, f"{link}. Accessed 3 May 2021."), [work]
        return f'<ref group="lower-alpha">{self.stated(full)}</ref>', self.mark(fresh, self.element(full), "a"), [full]

    def sentence(self, extra: str = "") -> tuple[str, str, str]:
        """A sentence: its words, its wikitext and its HTML without marks."""
        self.number += 1
        thing, place = self.random.choice(THINGS), self.random.choice(PLACES)
        words = f"The {thing} of {place} had {self.number} owners"
        form, shown = self.random.choice(
            [
                ("{{convert|%d|km|mi|0}}", "%d km"),
                ("{{cvt|%d|to|900|ft|m|abbr=on}}", "%d to 900 ft"),
                ("{{nowrap|%d [[acre|acres]]}}", "%d acres"),
                ("{{langx|de|Wehr %d}}", "Wehr %d"),
                ("{{val|%d|u=kg}}", "%d kg"),
                ("{{circa|%d}}", "c. %d"),
            ]
        )
        value = self.random.randint(2, 99)
        wiki, shown = form % value, shown % value
        plain = f"{words} and {shown}{extra}."
        return plain, f"{words} and {wiki}{extra}.", f"{words} and <span class='nowrap'>{shown}</span>{extra}."

    def cited_sentence(self) -> tuple[str, str]:
        """A sentence with its marks; and notes, which wait."""
        words, wiki, page = self.sentence()
        works: list[Cited] = []
        for _ in range(self.random.choice([0, 1, 1, 2])):
            mark, element, cited = self.once()
            self.last = cited[-1]
            works += cited
            wiki, page = wiki + mark, page + element
        self.page.expected.append((words, list(dict.fromkeys(works))))
        if self.random.random() < 0.2:
            needed = '<sup class="noprint Inline-Template">[<i><a href="/wiki/W">citation needed</a></i>]</sup>'
            wiki, page = wiki + "{{citation needed|date=May 2020}}", page + needed
        return wiki, page

    def noted_sentence(self, waiting: list[tuple[str, list[Cited]]]) -> tuple[str, str]:
        words, wiki, page = self.sentence()
        note, note_wiki, note_page = self.sentence(" as a note")
        own = self.random.choice(self.sourced)
        args = "|".join([*own.names, str(own.year)])
        inner, element = (
            f"{{{{sfn|{args}|p=7}}}}",
            self.mark(f"FOOTNOTE{own.anchor}7", f"{self.short_link(own)}, p. 7."),
        )
        forms = [f"{{{{efn|{note_wiki}{inner}}}}}", f"{{{{refn|group=note|{note_wiki}{inner}}}}}"]
        forms.append(f"{{{{#tag:ref|{note_wiki}{inner}|group=note}}}}")
        label = f"note {len(self.entries)}"
        mark = self.mark(f"note{len(self.entries)}", f"{note_page}{element}", label)
        self.page.expected.append((words, []))
        waiting.append((note, [own]))
        self.last = None
        return wiki + self.random.choice(forms), page + mark

    def write(self) -> Page:
        wiki = [
            "{{Short description|A thing}}\n{{Infobox lake|name=X|area={{convert|5|km2}}<ref>{{cite web|url=https://i.example|title=I}}</ref>}}"
        ]
        page = [
            '<div class="hatnote" role="note">For others, see Other things.</div>'
            '<table class="infobox"><tr><td>X</td></tr></table>'
        ]
        for section in range(4):
            waiting: list[tuple[str, list[Cited]]] = []
            self.last = None
            if section:
                wiki.append(f"== Part {section} ==\n{{{{Main|Other {section}}}}}")
                edit = '<span class="mw-editsection">[<a href="/e">edit</a>]</span>'
                page.append(f'<div class="mw-heading"><h2 id="P">Part {section}</h2>{edit}</div>')
            for _ in range(2):
                parts = [
                    self.noted_sentence(waiting) if self.random.random() < 0.15 else self.cited_sentence()
                    for _ in range(4)
                ]
                wiki.append(" ".join(part for part, _ in parts))
                page.append("<p>" + " ".join(part for _, part in parts) + "</p>")
            self.page.expected += waiting
        definitions = "\n".join(own for own in self.listed if own.startswith("<ref"))
        form = self.random.choice(["{{{{reflist|30em|refs=\n{}\n}}}}", "<references>\n{}\n</references>"])
        bibliography = [*self.sourced]
        self.random.shuffle(bibliography)
        wiki.append("== Notes ==\n{{notelist}}\n== References ==\n" + form.format(definitions))
        wiki.append(
            "== Works ==\n{{refbegin}}\n" + "\n".join(f"* {self.stated(w)}" for w in bibliography) + "\n{{refend}}"
        )
        items = "".join(
            f'<li id="cite_note-{name}-{n}"><span class="mw-cite-backlink"><b><a href="#cite_ref-{name}_{n}-0">^</a>'
            f'</b></span> <span class="reference-text">{contents}</span></li>'
            for n, (name, contents) in enumerate(self.entries, 1)
        )
        page.append(f'<h2>References</h2><div class="reflist"><ol class="references">{items}</ol></div>')
        page.append("<h2>Works</h2><ul>" + "".join(f"<li>{self.element(w)}</li>" for w in bibliography) + "</ul>")
        self.page.wikitext = "\n\n".join(wiki)
        self.page.html = (
            "<html><head><title>A thing - Wikipedia</title></head><body><h1>A thing</h1><div id='bodyContent'>"
            '<div id="siteSub" class="noprint">From Wikipedia, the free encyclopedia</div>'
            f'<div id="mw-content-text"><div class="mw-parser-output">{"".join(page)}</div></div></div></body></html>'
        )
        return self.page


def pages(number: int = 30) -> list[Page]:
    return [Writer(seed).write() for seed in range(number)]
