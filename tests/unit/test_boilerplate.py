"""Which sentences of a page speak of the site, and which only sound like it."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.references.boilerplate import is_interstitial, without_boilerplate
from storm_pipeline.references.menus import is_prose

NOTICES = [
    "Image may contain Human Person Fashion Clothing and Apparel.",
    "We use cookies to improve your experience.",
    "This website uses cookies.",
    "We and our partners use cookies and similar technologies.",
    "By continuing to browse you agree to our use of cookies.",
    "Accept all cookies",
    "Manage cookie preferences",
    "Cookie Policy",
    "Privacy Policy",
    "Terms of Use and Privacy Policy",
    "By signing up you agree to our Terms of Service and Privacy Policy.",
    "Please read our privacy policy.",
    "© 2024 Example Media Ltd. All rights reserved.",
    "All rights reserved.",
    "Sign up for our newsletter.",
    "Log in or create an account to continue.",
    "Subscribe now for unlimited access.",
    "Get the day's news in your inbox.",
    "Skip to main content",
    "Please enable JavaScript to view this page.",
    "Your browser does not support the video tag.",
    "Share this article",
    "Share on Facebook",
    "Follow us on Twitter for more.",
    "Click here to download the report.",
    "Advertisement",
    "Advertisement - Scroll to continue",
    "Read more",
    "Read more: Ten things to know",
    "Read more about this here",
    "Photo: Jane Doe / Reuters",
    "Image credit: NASA",
    "(opens in new window)",
    "Wir verwenden Cookies.",
    "Alle Cookies akzeptieren",
    "Datenschutzerklärung",
    "Impressum",
    "Alle Rechte vorbehalten.",
    "Tous droits réservés.",
    "Abonnez-vous à notre lettre.",
    "Consultez notre politique de confidentialité.",
    "Utilizamos cookies propias y de terceros.",
    "Política de privacidad",
    "This website utilizes technologies such as cookies to enable essential functions.",
    "We also use third-party cookies that help us understand how you use this website.",
    "If you do not allow these cookies, you will experience less targeted advertising.",
    "These cookies allow us to count visits.",
    "These cookies are set by a range of social media services.",
    "##### Targeting Cookies Switch Label label These cookies may be set through our site by our advertising partners.",
    "These cookies are necessary for the website to function and cannot be switched off in our systems.",
    "These cookies track visitors across websites and collect information to provide customized ads.",
    "All information these cookies collect is aggregated and therefore anonymous.",
    "You can set your browser to block or alert you about these cookies, but parts of the site will not then work.",
    "However, blocking some types of cookies may impact your experience.",
    "You can choose not to allow certain types of cookies.",
    "Necessary cookies are absolutely essential for the website to function properly.",
    "cookielawinfo-checkbox-others 11 months",
    "The cookie is used to store the user consent for the cookies in the category Other.",
    "Analytical cookies are used to understand how visitors interact with the website.",
    "They may be set by us or by third-party providers whose services we have added to our pages.",
    "They may be used by those companies to build a profile of your interests.",
    "This is then used to build or improve a profile about you.",
    "They are based on uniquely identifying your browser and internet device.",
    "They help us to know which pages are the most and least popular.",
    "This may impact the content and messages you see on other websites you visit.",
    "Then some or all of these services may not function properly.",
    "Click on the different category headings to find out more.",
    "The information does not usually directly identify you.",
    "This information might be about you, your preferences or your device.",
    "The technical storage or access that is used exclusively for statistical purposes.",
    "Not consenting or withdrawing consent may adversely affect certain features and functions.",
    "You may still see interest-based ads.",
    "You may exercise your right to opt out of the sale of personal information by using this toggle switch.",
    "Do Not Sell or Share My Personal Information",
    "Deny all cookies",
    "You must be logged in to post a comment.",
    "Learn how your comment data is processed.",
    "Forgot your password",
    "This file contains additional information such as Exif metadata which may have been added by the digital camera.",
    "If the file has been modified from its original state, some details may not fully reflect it.",
    "Files are available under licenses specified on their description page.",
    "The timestamp is only as accurate as the clock in the camera, and it may be completely wrong.",
    "If real news is important to you, please consider making a donation of $5 or whatever you can afford.",
    "You can support the Selby Club with a tax-deductible donation, or click here to gift a subscription.",
    "We depend on your help to keep our programming on the air.",
    "Your donation helps us keep reporting.",
    "Donate to the Selby Herald.",
    "Support us!",
    "Support our journalism today.",
    "Become a member",
    "When you purchase through links on our site, we may earn an affiliate commission.",
    "Subscribe",
    "Subscribe to Selby Anarchy.",
    "You can unsubscribe at any time.",
    "Sign up for project alerts and follow us on social media!",
    "Sign In Sign Up",
    "283K subscribers",
    "### Leave a Reply Cancel reply.",
    "#### Follow us",
    "This advertisement has not loaded yet, but your article continues below.",
    "PAGE CONTINUES BELOW ADVERTISEMENT.",
    "### Share this:",
    "#### Newsletters",
    "### Also Read: 10 Dams You Must See",
    "0:00 Intro 3:25 The dam 11:52 The lake 17:53 Questions",
]
ANNOUNCING = [
    "#### Trending Now",
    "Related Stories",
    "### RELATED ARTICLES",
    "You may also like",
    "Most popular",
    "More from this author",
    "Recommended for you",
    "Das könnte Sie auch interessieren",
    "Articles similaires",
    "Lo más leído",
]
"""Headings of lists of other pages."""
SUBJECTS = [
    "The bakery sells 400 cookies a day, and most customers prefer those with chocolate.",
    "Chocolate chip cookies use butter, sugar and flour.",
    "We use butter in our cookies, the baker said.",
    "In 2019 the court held that cookies require active consent under the directive.",
    "The regulator fined the company 50 million euros for its privacy policy.",
    "Twitter's terms of service forbid hateful conduct.",
    "Under the terms of use of the land, grazing was free.",
    "The treaty set the terms and conditions of the surrender.",
    "The phrase “all rights reserved” was required by the Buenos Aires Convention.",
    "Children who read more do better at school.",
    "She read more than 300 books a year.",
    "Volunteers signed up to read to children in hospital.",
    "Readers who subscribe today number ten million.",
    "In 1984 the advertisement was shown once, during the final.",
    "Advertisement spending fell by 12% in 2009.",
    "A cookie is a small file that your browser stores.",
    "Videos that people share on Facebook reached 8 billion views a day.",
    "Smoke rises over the harbour on Monday (Photo: Jane Doe).",
    "Photo: Smoke rises over the harbour of Beirut on Monday evening after an explosion that killed 200 people.",
    "This site uses the remains of a Roman wall as its foundation.",
    "Sites must enable JavaScript engines to compile code.",
    "Die Datenschutzerklärung von Facebook verstieß gegen das Gesetz.",
    "La CNIL a critiqué la politique de confidentialité de Google.",
    "La política de privacidad de WhatsApp cambió en 2021.",
    "Privacy is a right of every citizen.",
    "Legal service of the Commission",
    "The conditions of service in the army were hard.",
    "He told the crowd to log in large numbers before the vote.",
    "Browsers began to block these cookies in 2017.",
    "The directive lets users opt out of tracking cookies.",
    "In 2019 the court ruled on cookie consent in the case of a lottery.",
    "Shops must show a link with the words “Do Not Sell My Personal Information” under the act of 2018.",
    "In 2021 the network stopped showing personalized ads to minors.",
    "A third-party cookie is set by another domain than the one in the address bar.",
    "The company was fined for a profile of its users' interests.",
    "Employers may opt out of the sharing of costs, the court held.",
    "The clock in the tower was modified from its original state.",
    "Members must be logged in to vote on articles.",
    "The village asked for donations, and the school made a donation of 300 crowns.",
    "Donations to the museum are tax-deductible.",
    "Subscribers of the paper numbered 283,000 in 1931.",
    "Support for the dam grew when the story was trending on Twitter.",
    "More from the sale went to the poor.",
    "Your gift will be remembered, the king wrote to the abbot.",
    "Sign up sheets hung in the hall for a month.",
    "The related articles of the treaty were struck.",
    "The race began at 10:00, the first boat was home at 11:52 and the last one at 12:53.",
    "Readers may also like its sequel.",
]


@pytest.mark.parametrize("sentence", NOTICES)
def test_a_notice_of_the_site_goes(sentence: str) -> None:
    assert is_interstitial(sentence) or all(map(is_interstitial, sentence.split(". ")))
    kept = "The dam was built in 1936."
    assert without_boilerplate(f"{kept} {sentence}") in {kept, f"{kept} © 2024 Example Media Ltd."}


@pytest.mark.parametrize("heading", ANNOUNCING)
def test_a_heading_that_announces_other_pages_goes(heading: str) -> None:
    assert without_boilerplate(f"The dam leaks.\n{heading}\nIt is old.") == "The dam leaks. It is old."


@pytest.mark.parametrize("change", [str.upper, str.title, lambda s: s.replace("s", "ſ"), lambda s: s.replace("i", "ı")])
@pytest.mark.parametrize("sentence", [notice for notice in NOTICES if is_interstitial(notice)])
def test_case_does_not_matter(sentence: str, change: Callable[[str], str]) -> None:
    assert is_interstitial(change(sentence))


@given(st.lists(st.sampled_from([*NOTICES, *SUBJECTS, ". ", "? ", " | ", " ", "•", "…  ", "x", "é"]), max_size=8))
def test_a_line_is_read_alike_beside_text_without_spaces(pieces: list[str]) -> None:
    line = "".join(pieces)
    assert without_boilerplate(f"{line}. 東京。") == without_boilerplate(f"{line}. 東京") + "。"


@pytest.mark.parametrize("sentence", SUBJECTS)
def test_a_sentence_on_a_subject_stays(sentence: str) -> None:
    assert without_boilerplate(sentence) == sentence


def test_a_long_sentence_stays_whatever_it_says() -> None:
    sentence = "We use cookies " + "and tell of the dam and of those who built it " * 5
    assert without_boilerplate(sentence) == sentence.strip()


def test_entries_of_a_menu_are_judged_one_by_one() -> None:
    text = "Home | Privacy Policy | The dam was built in 1936 | Share on Facebook"
    assert without_boilerplate(text) == "Home The dam was built in 1936"


@given(st.lists(st.sampled_from([*NOTICES, *SUBJECTS, "Ein Satz.", "x", "|", "\n"]), max_size=8), st.text(max_size=30))
def test_words_only_go_and_stay_in_order(sentences: list[str], other: str) -> None:
    text = "\n".join([*sentences, other])
    kept = without_boilerplate(text)
    rest = iter(text.split())
    assert all(word in rest for word in kept.split())
    assert "\n" not in kept
    assert all(sentence in kept for sentence in sentences if sentence in SUBJECTS and sentence.endswith("."))


def test_a_line_of_the_site_does_not_take_the_next_line_with_it() -> None:
    assert (
        without_boilerplate("Share on Facebook\nThe dam was built in 1936\nAdvertisement")
        == "The dam was built in 1936"
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("limited to **1****,000 units** in all", "limited to 1,000 units in all"),
        ("The **dam** is old.", "The dam is old."),
        ("It is 2**10 and 3**4.", "It is 2**10 and 3**4."),
        ("Rated **** by one, ** by two.", "Rated **** by one, ** by two."),
    ],
)
def test_marks_of_bold_type_go(text: str, plain: str) -> None:
    assert without_boilerplate(text) == plain


def test_pictures_go_with_their_alternative_texts_and_links_keep_theirs() -> None:
    text = (
        "[![Image 1: a boat](https://a.org/1.png)](https://a.org/x) The boat turns "
        "[to the left](https://a.org/left). [Image 7: two boats]( ) It has ![](data:x) bosses [1]."
    )
    assert without_boilerplate(text).split() == [
        "The",
        "boat",
        "turns",
        "to",
        "the",
        "left.",
        "It",
        "has",
        "bosses",
        "[1].",
    ]


@pytest.mark.parametrize(
    ("furniture", "kept"),
    [
        ("HomeNewsSportWeather The dam leaks.", "The dam leaks."),
        ("* Music\n* Culture\n* Reviews\n* Store\n* Magazine\nThe dam leaks.", "The dam leaks."),
        ("Music | Culture | Reviews | Store | The dam leaks.", "The dam leaks."),
        ("Introduction ........ 5 The dam ......... 12 The lake . . . . . 20\nThe dam leaks.", "The dam leaks."),
        ("The dam leaks.\n==========\n----------", "The dam leaks."),
        ('Built in [1936](https://a.org/x_(y) "A year").[\\[2\\]](https://a.org#2)', "Built in 1936."),
        ('[[8]](https://a.org#8 "Jump up") The _Dam_ leaks. ![Image 39: oso', "The Dam leaks."),
        ('Access](https://a.org "Read More") The dam of [Selby](https://a.org/sel', "The dam of Selby"),
        (
            '62. Roy, Ann (March 3, 2022). "The Dam Leaks". Selby Herald. 63. Lee, Bob (2021). "Dams". Wire. It leaks.',
            "It leaks.",
        ),
        ('The <b>dam</b><br/> leaks<sup id="x"> if a < b > c.', "The dam leaks if a < b > c."),
        ("The alloys: * Copper * Zinc * Tin * Lead", "The alloys: * Copper * Zinc * Tin * Lead".replace(" *", "")),
        ("The band: * Ann Lee * Bob Ray * Cy Home * Di Fox", "The band: Ann Lee Bob Ray Cy Home Di Fox"),
        (
            "Skip to contentNewsNewsSectionsTop StoriesElectionsHealth NewsPoliticsNew YorkWorld ReportThe dam leaks.",
            "Skip to The dam leaks.",
        ),
        (
            "EnglishSelect languageClosebgбългарскиdeDeutschenEnglishnlNederlands The dam leaks.",
            "Nederlands The dam leaks.",
        ),
        (
            "The owners of LinkedIn, YouTube, WhatsApp, GitHub, TikTok and PlayStation met.",
            "The owners of LinkedIn, YouTube, WhatsApp, GitHub, TikTok and PlayStation met.",
        ),
        (
            "A photograph. Facebook Twitter WhatsApp LinkedIn SMS Email Print Save. The dam leaks.",
            "A photograph. The dam leaks.",
        ),
        (
            "Red Wolves Keys To The Game Countdown To Christmas Food Banks Serving Our Community What's Right With Our "
            "Schools Behind The Curtain Vote Now 24 Merry Days of Giveaways $5000 Website Makeover. The dam leaks.",
            "The dam leaks.",
        ),
        (
            "Champions Were Ann Lee 2012 Bob Ray Cy Home Di Fox Ed Orr Flo Kay Gus Moe Hal Roe Ida Poe Jo Day Kit Fry.",
            "Champions Were Ann Lee 2012 Bob Ray Cy Home Di Fox Ed Orr Flo Kay Gus Moe Hal Roe Ida Poe Jo Day Kit Fry.",
        ),
        ("The World Culture Magazine rated its reviews.", "The World Culture Magazine rated its reviews."),
        (
            '^ "A Dam". Herald, May 3, 2011. ^ Roy, "A Lake". Wire, 2012. ^ "The Valley". The dam leaks.',
            "The dam leaks.",
        ),
        ("| Home | Away |\n| 3 | 1 |\n| 2 | 2 |", "| Home Away | | 3 1 | | 2 2 |"),
    ],
)
def test_menus_and_marks_go_and_lists_stay(furniture: str, kept: str) -> None:
    assert without_boilerplate(furniture) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "The dam leaks. #### Trending. ### The Ten Best Dams. 3 hrs ago. ### A dam you have to see. It is old.",
            "It is old.",
        ),
        (
            "The dam leaks. Trending Now. Five Dams That Broke at Night. Why a Queen of Selby Left Her Dam. It is old.",
            "It is old.",
        ),
        (
            "The dam leaks. Related articles. ### Building. Ann Lee, Bob Ray, Cy Home and Di Fox built it.",
            "### Building. Ann Lee, Bob Ray, Cy Home and Di Fox built it.",
        ),
        ("The dam leaks. ### Ten Dams of the Old World. It is old.", "### Ten Dams of the Old World. It is old."),
    ],
)
def test_headlines_of_other_pages_go_with_the_heading_that_announces_them(text: str, kept: str) -> None:
    assert without_boilerplate(text) == f"The dam leaks. {kept}"


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("The dam was begun in 1931 above the village, where the river leaves the hills.", True),
        (
            "Back to the shop. Add to the basket. Sign in to see it. All of the news. What is on. For you and her.",
            False,
        ),
        ("Der Damm wurde 1931 oberhalb des Dorfes begonnen, wo der Fluss die Berge verlässt.", True),
        ("بنيت المنارة في الرأس الشمالي عام 1931 وبقيت مضاءة حتى نهاية الحرب في البلاد كلها.", True),
        ("Zaporę zbudowano powyżej wsi Selby, gdzie rzeka opuszcza wzgórza i wpada do jeziora.", True),
        ("Pato rakennettiin Selbyn kylän yläpuolelle, missä joki jättää kukkulat ja laskee järveen.", True),
        ("Dams Journal Dentistry Dermatology Designs Diabetology Diversity Drones Dynamics Earth Ecologies", False),
    ],
)
def test_prose_is_told_from_menus_in_languages_with_short_words(text: str, is_told: bool) -> None:
    assert is_prose(text) is is_told
