"""Each language of MIRACL and Mr. TyDi has the analyser that Anserini takes for it, and finds what that finds."""

import importlib.util
import subprocess
import sys
import unicodedata

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.testing.texts import texts
from harness.toolkit.text import analysis
from harness_bm25 import BM25
from harness_bm25.retriever import Lexical

NAMES = {
    "ar": "arabic", "bn": "bengali", "de": "german", "en": "english", "es": "spanish", "fa": "persian",
    "fi": "finnish", "fr": "french", "hi": "hindi", "id": "indonesian", "ja": "japanese", "ko": "cjk",
    "ru": "russian", "sw": "whitespace", "te": "telugu", "th": "thai", "vi": "simple", "yo": "whitespace",
    "zh": "cjk",
}  # fmt: skip
# What Lucene's analyser returns, but for Thai, whose words here are those of another dictionary.
LUCENES = [
    ("arabic", "والكتابان المكتبات إلى ١٢", "كتاب مكتب 12"),
    ("bengali", "বইগুলো পড়েছিলেন ১২ ক্যান্সার দুঃখ", "বই পর 12 কেন্সার দুখখ"),
    ("german", "Häuser und Mueller größten Straßen Kindern", "haus mull grosst strass kind"),
    ("spanish", "las canciones más rápidas luces inglés", "cancion rapid luz ingl"),
    ("persian", "کتاب‌های خانهٔ ایران و ۱۲", "كتاب خانه ايران 12"),
    ("finnish", "taloissa ja autojen", "talo auto"),
    ("french", "l'hôpital des chevaux qu’elles finissement nationale", "hopital cheval elle fini national"),
    ("hindi", "लड़कियाँ और किताबें १२ हिन्दी", "लडक किताब 12 हिंद"),
    ("indonesian", "pembelajaran dan memperbaikinya menyanyi", "ajar baik sanyi"),
    ("japanese", "東京タワーに登りました。コンピューターの本を読む", "東京 タワー 登る コンピュータ 本 読む"),
    ("russian", "в больших городах", "больш город"),
    ("telugu", "పుస్తకాలు మరియు ఇళ్ళు ౧౨", "పుస్తకా ఇళ్ళ 12"),
    ("thai", "ประชุมใหญ่ของพรรค 12 ครั้ง", "ประชุม ใหญ่ พรรค 12"),
]
NEEDS = {"japanese": "fugashi", "thai": "pythainlp"}


def loaded(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    return analysis.load(name)


def needs_lucene():
    if any(importlib.util.find_spec(name) is None for name in ("jnius", "pyserini")):
        pytest.skip("the extra 'lucene' is not installed")


def test_a_language_of_miracl_has_an_analyser_by_default():
    assert {code: analysis.resolve("auto", code) for code in NAMES} == NAMES


@pytest.mark.parametrize(("name", "text", "terms"), LUCENES, ids=[name for name, *_ in LUCENES])
def test_the_terms_are_those_of_lucenes_analyser(name, text, terms):
    assert " ".join(loaded(name)(text)) == terms


def test_thai_makes_no_folder_in_the_home_of_the_user(tmp_path):
    pytest.importorskip("pythainlp")
    code = "from harness.toolkit.text import analysis; print(*analysis.load('thai')('ประชุมใหญ่'))"
    run = subprocess.run(
        [sys.executable, "-c", code], env={"HOME": str(tmp_path)}, capture_output=True, text=True
    )
    assert (run.stdout, run.stderr, list(tmp_path.iterdir())) == ("ประชุม ใหญ่\n", "", [])


# Beside Lucene itself. The words are made: stems of random letters of the script with common endings, and for
# the two languages of dictionaries words of everyday.
ENDINGS = {
    "ar": "ات ون ها ية", "bn": "গুলো েরা কে টি", "de": "en er e es st", "en": "s ing ed ly", "es": "os as es ces",
    "fa": "ها ی", "fi": "ssa lla n t", "fr": "s aux ation issement", "hi": "ियों ाएं ों ता", "id": "kan nya an lah",
    "ko": "은 는", "ru": "ами ов ый", "sw": "ni", "te": "లు ము ని లో", "vi": "", "yo": "", "zh": "",
}  # fmt: skip
SCRIPTS = {
    "ar": (0x621, 0x64A), "fa": (0x621, 0x64A), "bn": (0x985, 0x9B9), "hi": (0x905, 0x939), "te": (0xC05, 0xC39),
    "ko": (0xAC00, 0xAC60), "ru": (0x430, 0x44F), "zh": (0x4E00, 0x4E60),
}  # fmt: skip
THAI = "ประชุม พรรค อาหาร โรงเรียน นักเรียน แม่น้ำ ภูเขา ตลาด รถไฟ หนังสือ ดนตรี กีฬา รัฐบาล ประเทศ เมือง ทะเล".split()
JAPANESE = "東京 電車 学校 先生 食べる 読む 山 川 音楽 会社 コンピューター 病院 新聞 天気 写真 友達".split()


def words(code, rng):
    """Words in several forms: a list of forms of each."""
    if code in ("th", "ja"):
        return [[word] for word in (THAI if code == "th" else JAPANESE)]
    first, last = SCRIPTS.get(code, (ord("a"), ord("z")))
    letters = [chr(c) for c in range(first, last + 1) if unicodedata.category(chr(c)).startswith("L")]
    stems = ["".join(rng.choice(letters, rng.integers(3, 7))) for _ in range(200)]
    return [[stem, *(stem + ending for ending in ENDINGS.get(code, "").split())] for stem in stems]


def squad(code, rng):
    """Passages, and questions with words of one passage each, in other forms. Thai and Japanese have no blanks."""
    lexicon, blank = words(code, rng), "" if code in ("th", "ja", "zh") else " "
    joined = "และ" if code == "th" else "の" if code == "ja" else blank
    drawn = [rng.integers(len(lexicon), size=12 if len(lexicon) < 50 else 40) for _ in range(120)]
    form = lambda i: str(rng.choice(lexicon[i]))  # noqa: E731
    passages = [joined.join(form(i) for i in row) for row in drawn]
    return passages, [joined.join(form(i) for i in rng.choice(row, 3)) for row in drawn]


def score(retriever, passages, questions, folder):
    """nDCG@10, with one relevant passage a question."""
    folder.mkdir()
    corpus = texts(passages)
    retriever.index(corpus, folder)
    hits = retriever.open(corpus, folder).search(questions, 10).passages
    ranks = np.argwhere(hits == np.arange(len(questions))[:, None])[:, 1]
    return float((1 / np.log2(ranks + 2)).sum()) / len(questions)


@pytest.mark.extras
@pytest.mark.parametrize("code", sorted(NAMES.keys() - {"th"}))
def test_bm25_finds_what_lucenes_analyser_lets_it_find(code, tmp_path):
    needs_lucene()
    loaded(NAMES[code])
    from harness_lucene import LuceneBM25
    from harness_lucene.retriever import Lucene

    passages, questions = squad(code, np.random.default_rng(7))
    theirs = {"sw": "whitespace", "yo": "whitespace", "vi": "whitespace"}.get(code, code)
    lucenes = score(Lucene(LuceneBM25(analyser=theirs)), passages, questions, tmp_path / "lucene")
    ours = score(
        Lexical(BM25(analyser=NAMES[code], lengths="lucene")), passages, questions, tmp_path / "ours"
    )
    assert ours >= lucenes - 0.01
    assert 0.2 < lucenes < 1


@pytest.mark.extras
@pytest.mark.parametrize("code", ["ar", "bn", "de", "es", "fa", "fr", "hi", "id", "ru", "te"])
def test_each_of_2000_random_words_has_lucenes_term(code):
    needs_lucene()
    from harness_lucene import languages, runtime

    java, analyse = runtime.java(), analysis.load(NAMES[code])
    analyser = languages.analyser(java, code)
    terms = java("io.anserini.analysis.AnalyzerUtils").analyze
    rng = np.random.default_rng(11)
    made = [form for forms in words(code, rng) for form in forms]
    first, last = SCRIPTS.get(code, (ord("a"), ord("z")))
    block = range(first & ~0x7F, (first & ~0x7F) + 0x80) if code in SCRIPTS else range(first, last + 1)
    letters = [chr(c) for c in block if unicodedata.ucd_3_2_0.category(chr(c))[0] in "LMN"]
    made += ["".join(rng.choice(letters, rng.integers(1, 12))) for _ in range(2000)]
    assert [analyse(word) for word in made] == [list(terms(analyser, word).toArray()) for word in made]


@pytest.mark.extras
def test_lucene_names_bm25_where_its_java_cannot_segment_thai():
    needs_lucene()
    from harness_lucene import languages, runtime

    if runtime.java()("org.apache.lucene.analysis.th.ThaiTokenizer").DBBI_AVAILABLE:
        pytest.skip("this Java segments Thai")
    with pytest.raises(HarnessError, match="cannot segment Thai; take the retriever bm25"):
        languages.analyser(runtime.java(), "th")
