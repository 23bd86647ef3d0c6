"""The Viterbi search over arrays gives jieba's own states, also for characters that jieba does not know."""

import random

import pytest

pytestmark = pytest.mark.extras
posseg = pytest.importorskip("jieba.posseg")

from harness.toolkit.text.jieba_words import tokenizer  # noqa: E402
from harness_keyphrases import chinese, taggers  # noqa: E402

SIMPLIFIED = "台湾东部铁路于一九八零年开通，联络线桥梁长约三公里；现代化设备与传统建筑并存。"
TRADITIONAL = "臺灣東部鐵路於一九八零年開通，聯絡線橋樑長約三公里；現代化設備與傳統建築並存。"


@pytest.fixture(scope="module")
def search():
    return chinese.Search()


@pytest.mark.parametrize("seed", range(8))
def test_the_states_are_those_of_jieba(search, seed):
    chance = random.Random(seed)
    text = "".join(
        chance.choice(SIMPLIFIED + TRADITIONAL + "龘鬱ab〇々") for _ in range(chance.randint(1, 10))
    )
    tables = (posseg.char_state_tab_P, posseg.start_P, posseg.trans_P, posseg.emit_P)
    assert search.path(text) == posseg.viterbi(text, *tables)[1]


def test_traditional_chinese_is_tagged_without_jiebas_search_through_all_pairs_of_states(monkeypatch):
    monkeypatch.setattr(posseg, "viterbi", None)
    assert any(word.keep for word in taggers.jieba_()(TRADITIONAL))


@pytest.mark.parametrize("text", [SIMPLIFIED, TRADITIONAL], ids=["simplified", "traditional"])
def test_words_and_tags_are_those_of_jieba(text):
    words = [posseg.POSTokenizer(tokenizer()).lcut(text), chinese.Tagger(tokenizer()).lcut(text)]
    first, second = ([(pair.word, pair.flag) for pair in pairs] for pairs in words)
    assert first == second
    assert len(first) > 10
