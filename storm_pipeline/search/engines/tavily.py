"""Tavily: a search service made for language models. Needs a key."""

from typing import Any

from storm_pipeline.documents.plain import iso_date, texts
from storm_pipeline.errors import SettingsError
from storm_pipeline.search.engine_info import EngineInfo, SearchOptions
from storm_pipeline.search.web_service import WebService

_TABLE = """
ad andorra, ae united arab emirates, af afghanistan, al albania, am armenia, ao angola, ar argentina, at austria,
au australia, az azerbaijan, ba bosnia and herzegovina, bb barbados, bd bangladesh, be belgium, bf burkina faso,
bg bulgaria, bh bahrain, bi burundi, bj benin, bn brunei, bo bolivia, br brazil, bs bahamas, bt bhutan, bw botswana,
by belarus, bz belize, ca canada, cf central african republic, cg congo, ch switzerland, cl chile, cm cameroon,
cn china, co colombia, cr costa rica, cu cuba, cv cape verde, cy cyprus, cz czech republic, de germany, dj djibouti,
dk denmark, do dominican republic, dz algeria, ec ecuador, ee estonia, eg egypt, er eritrea, es spain, et ethiopia,
fi finland, fj fiji, fr france, ga gabon, gb united kingdom, ge georgia, gh ghana, gm gambia, gn guinea,
gq equatorial guinea, gr greece, gt guatemala, hn honduras, hr croatia, ht haiti, hu hungary, id indonesia,
ie ireland, il israel, in india, iq iraq, ir iran, is iceland, it italy, jm jamaica, jo jordan, jp japan, ke kenya,
kg kyrgyzstan, kh cambodia, km comoros, kp north korea, kr south korea, kw kuwait, kz kazakhstan, lb lebanon,
li liechtenstein, lk sri lanka, lr liberia, ls lesotho, lt lithuania, lu luxembourg, lv latvia, ly libya, ma morocco,
mc monaco, md moldova, me montenegro, mg madagascar, mk north macedonia, ml mali, mm myanmar, mn mongolia,
mr mauritania, mt malta, mu mauritius, mv maldives, mw malawi, mx mexico, my malaysia, mz mozambique, na namibia,
ne niger, ng nigeria, ni nicaragua, nl netherlands, no norway, np nepal, nz new zealand, om oman, pa panama, pe peru,
pg papua new guinea, ph philippines, pk pakistan, pl poland, pt portugal, py paraguay, qa qatar, ro romania,
rs serbia, ru russia, rw rwanda, sa saudi arabia, sd sudan, se sweden, sg singapore, si slovenia, sk slovakia,
sn senegal, so somalia, ss south sudan, sv el salvador, sy syria, td chad, tg togo, th thailand, tj tajikistan,
tm turkmenistan, tn tunisia, tr turkey, tt trinidad and tobago, tw taiwan, tz tanzania, ua ukraine, ug uganda,
us united states, uy uruguay, uz uzbekistan, ve venezuela, vn vietnam, ye yemen, za south africa, zm zambia,
zw zimbabwe
"""
COUNTRIES: dict[str, str] = {entry[:2]: entry[3:] for entry in " ".join(_TABLE.split()).split(", ")}
"""Code → name, both in lower case."""


INFO = EngineInfo(
    "tavily",
    needs="a key in TAVILY_API_KEY",
    free=False,
    returns="pages of the web, one passage each, selected for the query",
    variables=("TAVILY_API_KEY",),
    supports=frozenset({"region", "since", "until"}),
)
_MAX_DOMAINS, _MAX_EXCLUDED_DOMAINS = 300, 150


def _options(options: SearchOptions) -> dict[str, Any]:
    params: dict[str, Any] = {}
    if options.region:
        country = COUNTRIES.get(options.region.casefold())
        if country is None:
            raise SettingsError(
                f"the search engine `tavily` does not support the region {options.region!r}; leave it out"
            )
        params["country"] = country  # a preference in the ranking
    if options.since:
        params["start_date"] = options.since.isoformat()
    if options.until:
        params["end_date"] = options.until.isoformat()
    if options.domains:
        params["include_domains"] = options.domains[:_MAX_DOMAINS]
    if options.without_domains:
        params["exclude_domains"] = options.without_domains[:_MAX_EXCLUDED_DOMAINS]
    return params


SERVICE = WebService(
    INFO,
    key_from="app.tavily.com",
    address="https://api.tavily.com",
    path="/search",
    headers={"Authorization": "Bearer {}"},
    rate=1.6,  # a development key allows 100 requests a minute, others 1,000
    page=20,
    request=lambda query, size, _: {"query": query, "max_results": size},
    options=_options,
    hits=lambda answer: results if isinstance(results := answer.get("results"), list) else None,
    texts=lambda hit: texts([hit.get("content")]),
    published=lambda hit: iso_date(hit.get("published_date")),
    remedies={
        432: "the plan's credits for this month, or the limit set on this key, are used up; raise them at "
        "app.tavily.com or choose another engine",
        433: "the limit on pay-as-you-go is reached; raise it at app.tavily.com or choose another engine",
    },
)
open_engine = SERVICE.open_engine
