"""The English word lists of the rules: closed classes, and small open classes (names, people, firms)."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DEFINITE = _words("the this that these those")
INDEFINITE = _words("a an another some")
DISTRIBUTED = _words("any every each no either neither")  # phrases with these have no antecedent
POSSESSIVE = _words("my your our its their his her whose")
MALE = _words("he him his himself")
FEMALE = _words("she her hers herself")
NEUTER = _words("it its itself")
PLURAL = _words("they them their theirs themselves")
PRONOUNS = MALE | FEMALE | NEUTER | PLURAL
PREPOSITIONS = _words(
    "about above across after against along among around as at before behind below beneath beside "
    "besides between beyond by despite down during except for from in inside into like near of off on "
    "onto out outside over past per since than through throughout till to toward towards under "
    "underneath until up upon via with within without"
)
PLACES = _words("in at from near to off outside around toward towards")  # prepositions before a place
AUXILIARIES = _words(
    "am is are was were be been being do does did done has have had having can could may might must "
    "shall should will would cannot won don doesn didn isn aren wasn weren hasn haven hadn couldn "
    "shouldn wouldn"
)
CONJUNCTIONS = _words(
    "and or but nor yet so if unless because although though while whereas when whenever where wherever "
    "whether who whom which what why how once lest"
)
ADVERBS = _words(
    "not never always often sometimes also even only just still already soon later then there here now "
    "again too very quite rather almost nearly perhaps maybe however therefore otherwise instead "
    "together elsewhere ago away back far well much more most less least enough ever today tomorrow "
    "yesterday first everywhere nowhere somewhere half twice"
)
QUANTITIES = _words(
    "all both few many several such either neither none nobody nothing everybody everyone everything "
    "anybody anyone anything somebody someone something one two three four five six seven eight nine "
    "ten i you we me us he she it they them him myself yourself ourselves mine yours ours"
)
VERBS = _words(  # frequent forms that look like nouns, and irregular forms without a typical ending
    "go goes went gone come comes came become becomes became get gets got give gives gave given take "
    "takes took taken make makes made say says said see sees saw seen know knows knew known think "
    "thinks thought find finds found tell tells told keep keeps kept begin begins began begun bring "
    "brings brought buy buys bought build builds built leave leaves left lie lies lay lain lose loses "
    "lost pay pays paid put puts run runs ran sell sells sold send sends sent set sets sit sits sat "
    "speak speaks spoke spoken spend spent stand stands stood teach taught win wins won write writes "
    "wrote written wear wore worn hold holds held hear hears heard grow grows grew grown fall falls "
    "fell fallen draw draws drew drawn drive drives drove driven eat ate eaten choose chose chosen "
    "break broke broken rise rises rose risen show shows shown ask asks need needs want wants seem "
    "seems help helps let lets mean means meant meet meets met apply applies belong belongs contain "
    "contains include includes cover covers decide decides depend depends happen happens receive "
    "receives remain remains require requires serve serves use uses allow allows agree agrees believe "
    "believes die dies live lives sing sang sung swim swam drink drank forget forgot understand "
    "understood read shut cut hit cost costs catch caught fight fought feel felt seek sought shrink "
    "sink sank sunk spread threw throw thrown wake woke strike struck"
)
STOPS = (
    PREPOSITIONS
    | AUXILIARIES
    | CONJUNCTIONS
    | ADVERBS
    | QUANTITIES
    | VERBS
    | DEFINITE
    | INDEFINITE
    | DISTRIBUTED
    | POSSESSIVE
    | PRONOUNS
)
NO_NAMES = STOPS - VERBS - ADVERBS  # words that are not names, even if capitalised inside a sentence
BLEND = _words("same other following next last previous whole entire own new old main current")
# Nouns whose phrase with `the` rarely refers to an earlier phrase.
LOOSE = _words(
    "day days week weeks month months year years time times hour hours minute minutes morning evening "
    "night afternoon winter summer autumn spring century date dates age end start beginning middle rest "
    "top bottom way ways part parts number numbers amount kind kinds sort sorts lot case cases example "
    "examples fact reason reasons result results thing things point points side sides place places same "
    "other others following future past present world internet moment course event most least order "
    "total left right north south east west uk us usa eu"
)
# Given names of women and of men, without names that both have.
WOMEN = _words(
    "mary anna anne ann alice emma elizabeth margaret sarah jane helen laura julia maria susan linda "
    "barbara patricia jennifer karen nancy lisa betty dorothy sandra ashley donna carol michelle emily "
    "amanda melissa deborah stephanie rebecca sharon cynthia kathleen amy angela ruth brenda pamela "
    "nicole katherine catherine virginia rachel janet heather diane julie joyce victoria olivia "
    "charlotte sophie sophia clara ada edith agnes irene rosa lucy grace eleanor martha louise ellen "
    "harriet florence marie fatima aisha nora hannah eva ingrid greta ursula theresa caroline beatrice "
    "isabel rose louisa henrietta adelaide amelia augusta bertha constance cora dora edna elsie emilia "
    "ernestine esther ethel eugenia flora frances frieda georgina gertrude hilda ida irma josephine "
    "judith lena leonora lydia mabel matilda mildred minna olga ottilie paula philippa rosalind selma "
    "sybil thea vera viola wilhelmina winifred"
)
MEN = _words(
    "john james robert michael william david richard charles joseph thomas daniel matthew anthony mark "
    "donald steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason jeffrey "
    "ryan jacob gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory "
    "frank alexander raymond patrick jack dennis jerry peter henry arthur albert frederick harold "
    "walter simon philip martin hugo otto karl hans johann ludwig franz carl oscar leo max adam alan "
    "bernard oliver edmund ernest ralph roger stanley theodore victor vincent wilfred mohammed muhammad "
    "ahmed ali luke adolf alfred ambrose archibald august barnaby basil bertram cecil christian clement "
    "conrad cyril dominic duncan edgar edwin emil eugene felix ferdinand gilbert godfrey gustav hector "
    "herbert hubert hugh isaac jasper jerome jonas julius laurence lawrence leonard leopold lionel "
    "magnus maurice miles moritz nathaniel norman owen percy reginald rudolf rupert sebastian silas "
    "theo tobias wilhelm"
)
MEN_TITLES = _words("mr sir lord king prince duke baron father brother")
WOMEN_TITLES = _words("mrs ms miss lady queen princess duchess baroness sister dame")
TITLES = MEN_TITLES | WOMEN_TITLES | _words("dr prof professor president captain colonel general judge gov")
MEN_NOUNS = _words("man boy father husband son brother uncle king nephew grandfather widower gentleman lord")
WOMEN_NOUNS = _words("woman girl mother wife daughter sister aunt queen niece grandmother widow lady heroine")
PEOPLE = (
    MEN_NOUNS
    | WOMEN_NOUNS
    | _words(
        "child parent person partner guardian carer spouse adult student pupil tenant landlord employee "
        "applicant claimant patient relative friend neighbour neighbor client customer citizen resident "
        "victim candidate president chief agent assistant accountant attendant servant merchant pianist "
        "artist scientist architect chemist economist journalist geologist historian musician physician "
        "politician librarian technician mathematician guard cook poet priest monk nurse saint soldier hero "
        "expert athlete pilot judge clerk smith baby infant teenager author doctor professor director actor "
        "editor inventor sculptor composer conductor collector surveyor solicitor tutor investor sponsor "
        "donor executor engraver engineer painter writer singer player teacher lawyer banker baker farmer "
        "builder founder leader owner manager designer officer minister ruler dancer drummer photographer "
        "philosopher astronomer geographer carpenter worker employer father lecturer trader dealer speaker "
        "reader buyer seller driver winner"
    )
)
PERSON_ENDINGS = ("ologist", "ographer", "ician", "smith", "wright", "keeper", "maker", "woman", "man")
GROUPS = _words(
    "firm company business corporation enterprise society association union club institute institution "
    "organisation organization foundation agency council committee commission department ministry "
    "bureau board bank university college school museum gallery library hospital church party band "
    "orchestra team group trust charity office court police army navy league federation academy guild "
    "works brewery newspaper government authority"
)
THINGS = _words(  # words in names that are neither of people nor of groups
    "railway railroad bridge street road avenue river mountain valley island bay "
    "festival garden station castle palace tower square airport harbour prize award medal act bill "
    "fund scheme allowance payment credit tax form charter treaty war battle report code law rights "
    "observatory theatre theater cathedral abbey county city town village district region state "
    "republic kingdom press times journal"
)
FIRM_TAILS = _words("ltd inc llc plc co corp gmbh sons brothers bros partners")
ALIKE = (  # groups of interchangeable nouns
    _words("firm company business enterprise corporation"),
    _words("society association organisation organization"),
    _words("film movie picture"),
    _words("ship vessel"),
    _words("town city"),
)
CALENDAR = _words(
    "january february march april may june july august september october november december monday "
    "tuesday wednesday thursday friday saturday sunday christmas easter"
)
