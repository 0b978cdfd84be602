"""Number words by language: units from zero, tens from twenty, hundreds; data only.

``a|b`` are alternative spellings of one value. Compounds of German and Italian are made from these in ``vocabulary``.
"""

UNITS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn",
    "fr": "zéro un|une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    "es": "cero un|uno|una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
    "diecisiete dieciocho diecinueve",
    "it": "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici "
    "sedici diciassette diciotto diciannove",
    "pt": "zero um|uma dois|duas três quatro cinco seis sete oito nove dez onze doze treze catorze|quatorze quinze "
    "dezesseis|dezasseis dezessete|dezassete dezoito dezenove|dezanove",
    "pl": "zero jeden|jedna|jedno dwa|dwie|dwóch|dwaj trzy|trzech|trzej cztery|czterech|czterej pięć|pięciu "
    "sześć|sześciu siedem|siedmiu osiem|ośmiu dziewięć|dziewięciu dziesięć|dziesięciu jedenaście|jedenastu "
    "dwanaście|dwunastu trzynaście czternaście piętnaście szesnaście siedemnaście osiemnaście dziewiętnaście",
    "ru": "ноль один|одна|одно|одного|одной два|две|двух|двумя три|трёх|трех|тремя четыре|четырёх|четырех пять|пяти "
    "шесть|шести семь|семи восемь|восьми девять|девяти десять|десяти одиннадцать|одиннадцати двенадцать|двенадцати "
    "тринадцать четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать",
}
TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt|vingts trente quarante cinquante soixante septante huitante|octante nonante",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "it": "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    "pt": "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    "pl": "dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt "
    "dziewięćdziesiąt",
    "ru": "двадцать|двадцати тридцать|тридцати сорок|сорока пятьдесят|пятидесяти шестьдесят|шестидесяти "
    "семьдесят|семидесяти восемьдесят|восьмидесяти девяносто",
}
HUNDREDS = {
    "es": "cien|ciento doscientos|doscientas trescientos|trescientas cuatrocientos|cuatrocientas quinientos|quinientas "
    "seiscientos|seiscientas setecientos|setecientas ochocientos|ochocientas novecientos|novecientas",
    "pt": "cem|cento duzentos|duzentas trezentos|trezentas quatrocentos|quatrocentas quinhentos|quinhentas "
    "seiscentos|seiscentas setecentos|setecentas oitocentos|oitocentas novecentos|novecentas",
    "pl": "sto dwieście trzysta czterysta pięćset sześćset siedemset osiemset dziewięćset",
    "ru": "сто|ста двести триста четыреста пятьсот шестьсот семьсот восемьсот девятьсот",
}
SPANISH_TWENTIES = (
    "veintiuno|veintiún|veintiuna veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho "
    "veintinueve"
)
HUNDRED = {"en": "hundred", "fr": "cent cents"}
EVERYWHERE = "mn|mln|mio=1e6 bn|bln|mrd|mld=1e9 tn|trn=1e12"
"""Abbreviations with the same meaning in all languages here."""
MAGNITUDES = {
    "en": "dozen=12 thousand=1e3 million|millions=1e6 billion|billions=1e9 trillion|trillions=1e12 "
    "lakh|lakhs=1e5 crore|crores=1e7",
    "de": "dutzend=12 tausend|tsd=1e3 million|millionen=1e6 milliarde|milliarden=1e9 billion|billionen=1e12",
    "fr": "douzaine=12 mille=1e3 million|millions=1e6 milliard|milliards|md|mds=1e9 billion|billions=1e12",
    "es": "docena|docenas=12 mil=1e3 millón|millones|mill=1e6 billón|billones=1e12",
    "it": "dozzina|dozzine=12 mille|mila=1e3 milione|milioni=1e6 miliardo|miliardi=1e9 bilione|bilioni=1e12",
    "pt": "dúzia|dúzias=12 mil=1e3 milhão|milhões|mi=1e6 bilhão|bilhões|bi=1e9 biliões=1e12 trilhão|trilhões=1e12",
    "pl": "tuzin=12 tysiąc|tysiące|tysięcy|tys=1e3 milion|miliony|milionów=1e6 miliard|miliardy|miliardów=1e9 "
    "bilion|biliony|bilionów=1e12",
    "ru": "дюжина=12 тысяча|тысячи|тысяч|тысячу|тыс=1e3 миллион|миллиона|миллионов|млн=1e6 "
    "миллиард|миллиарда|миллиардов|млрд=1e9 триллион|триллиона|триллионов|трлн=1e12",
    "ar": "ألف|آلاف=1e3 مليون|ملايين=1e6 مليار|مليارات|بليون=1e9 تريليون=1e12",
}
NEEDS_COUNT = {
    "en": "dozen hundred thousand million millions billion billions trillion trillions lakh lakhs crore crores",
    "de": "dutzend million millionen milliarde milliarden billion billionen",
    "fr": "douzaine million millions milliard milliards md mds billion billions cents",
    "es": "docena docenas millón millones mill billón billones",
    "it": "dozzina dozzine mila milione milioni miliardo miliardi bilione bilioni",
    "pt": "dúzia dúzias milhão milhões mi bilhão bilhões bi biliões trilhão trilhões",
    "pl": "tuzin tysiące tysięcy tys miliony milionów miliardy miliardów biliony bilionów",
    "ru": "дюжина тысячи тысяч тыс миллионов миллиардов триллионов",
    "ar": "ألف آلاف مليون ملايين مليار مليارات بليون تريليون",
}
JOINERS = {"en": "and", "fr": "et", "es": "y", "pt": "e", "de": "und", "it": "e"}
ARTICLES = {
    "en": "a an one",
    "de": "ein eine einer einem einen eines eins",
    "fr": "un une",
    "es": "un uno una",
    "it": "un uno una",
    "pt": "um uma",
    "pl": "jeden jedna jedno",
    "ru": "один одна одно одного одной",
}
ORDINALS = {
    "en": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth",
    "de": "erste|ersten|erster|erstes zweite|zweiten|zweiter dritte|dritten|dritter vierte|vierten|vierter "
    "fünfte|fünften|fünfter sechste|sechsten siebte|siebten achte|achten neunte|neunten zehnte|zehnten elfte|elften "
    "zwölfte|zwölften dreizehnte|dreizehnten vierzehnte|vierzehnten fünfzehnte|fünfzehnten sechzehnte|sechzehnten "
    "siebzehnte|siebzehnten achtzehnte|achtzehnten neunzehnte|neunzehnten zwanzigste|zwanzigsten",
    "fr": "premier|première deuxième|second|seconde troisième quatrième cinquième sixième septième huitième neuvième "
    "dixième onzième douzième treizième quatorzième quinzième seizième dix-septième dix-huitième dix-neuvième "
    "vingtième",
    "es": "primero|primera|primer segundo|segunda tercero|tercera|tercer cuarto|cuarta quinto|quinta sexto|sexta "
    "séptimo|séptima octavo|octava noveno|novena décimo|décima",
    "it": "primo|prima secondo|seconda terzo|terza quarto|quarta quinto|quinta sesto|sesta settimo|settima "
    "ottavo|ottava nono|nona decimo|decima undicesimo dodicesimo tredicesimo quattordicesimo quindicesimo sedicesimo "
    "diciassettesimo diciottesimo diciannovesimo ventesimo",
    "pt": "primeiro|primeira segundo|segunda terceiro|terceira quarto|quarta quinto|quinta sexto|sexta sétimo|sétima "
    "oitavo|oitava nono|nona décimo|décima",
}
LATER_ORDINALS = {
    "en": "twentieth=20 thirtieth=30 fortieth=40 fiftieth=50 sixtieth=60 seventieth=70 eightieth=80 ninetieth=90 "
    "hundredth=100 thousandth=1000 millionth=1e6",
    "de": "zwanzigste|zwanzigsten=20 dreißigste|dreißigsten=30 vierzigste|vierzigsten=40 fünfzigste|fünfzigsten=50 "
    "hundertste|hundertsten=100",
    "fr": "trentième=30 quarantième=40 cinquantième=50 soixantième=60 centième=100",
}
DECADES = {"en": "twenties thirties forties fifties sixties seventies eighties nineties"}
"""Names of decades from the twenties on."""
SPANS = (
    "decade|decades|jahrzehnt|jahrzehnte|jahrzehnten|décennie|décennies|década|décadas|decennio|decenni|dekada|dekady|"
    "десятилетие|десятилетия|десятилетий=10 century|centuries|jahrhundert|jahrhunderte|jahrhunderten|siècle|siècles|"
    "siglo|siglos|secolo|secoli|século|séculos=100"
)
"""Words for a number of years."""
FRACTIONS = {
    "en": "half|halves=2 third|thirds=3 quarter|quarters|fourth|fourths=4 fifth|fifths=5 sixth|sixths=6 "
    "eighth|eighths=8 tenth|tenths=10",
    "de": "hälfte|halbe|halben=2 drittel=3 viertel=4 fünftel=5 sechstel=6 achtel=8 zehntel=10",
    "fr": "moitié|demi=2 tiers=3 quart|quarts=4 cinquième|cinquièmes=5 sixièmes=6 dixième|dixièmes=10",
    "es": "mitad|medio|media=2 tercio|tercios=3 cuarto|cuartos=4 quintos=5 décimos=10",
    "it": "metà|mezzo|mezza=2 terzi=3 quarti=4 quinti=5 decimi=10",
    "pt": "metade|meio|meia=2 terço|terços=3 quartos=4 quintos=5 décimos=10",
    "pl": "połowa|połowy|połowę=2 ćwierć=4",
    "ru": "половина|половины|половину=2 треть|трети=3 четверть|четверти=4",
}
PERCENT = (
    "percent percentage pct prozent procent procenta proc porcentaje porcentagem percentuale pourcent "
    "процент процента процентов проц прозент процентных"
)
PERCENT_PHRASES = (
    "per cent|pour cent|por ciento|per cento|por cento|в процентах|percentage points?|بالمائة|في المئة|في المائة"
)
CENTURIES = (
    "century centuries jahrhundert jahrhunderts jahrhunderte siècle siècles siglo siglos secolo secoli século séculos "
    "wiek wieku wieków век века веке веков قرن القرن"
)
APPROXIMATE = (
    "about around approximately roughly circa ca c some nearly~ almost~ just~ close estimated "
    "etwa rund ungefähr circa zirka knapp~ fast~ gut+ environ près presque~ quelque quelques "
    "aproximadamente alrededor unos unas casi~ cerca circa quasi~ quase~ około ok blisko~ prawie~ "
    "около примерно почти~ приблизительно порядка حوالي نحو 约 約 大约 およそ 近~ "
    "over+ more+ exceeding+ least+ above+ über+ mehr+ mindestens+ plus+ más+ oltre+ mais+ ponad+ "
    "более+ свыше+ أكثر+ 超过+ 超+ "
    "under~ below~ fewer~ less~ weniger~ unter~ moins~ menos~ meno~ poniżej~ менее~"
)
"""Words that mark a number as rounded: ``~`` if the exact value is below, ``+`` if above."""
