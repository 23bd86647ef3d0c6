"""Coreference in Chinese by rules: he and she, phrases like `this company`, and explained short names.

The only word lists are surnames, nouns for institutions, and words that mark names or people. Names are found
in the document itself: a name is a repeated string that no character always precedes or follows. A person's
name begins with a surname and stands at least once beside a profession, a title or a verb of people. An
institution's name stands beside its noun, as in `铸铜公司仁益祥记` or `仁益祥记，一家铸铜公司`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from harness_coreference.contract import Cluster, Mention

CLOSEST = 50  # earlier mentions that are searched for an antecedent, as in DAPR's section 4.2.2
LONGEST = 12  # the most characters of a name
READ = 100_000  # names are learnt from this many characters of a document, which bounds memory
_AROUND, _CLAUSE = 12, 200  # the most characters read beside a name, and before a place in its sentence
_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_NEVER = frozenset("的了是在与及这那也都就又不没把被让个")  # characters that no name contains
_SINGLE = frozenset(
    "王李张刘陈杨黄赵周吴徐孙马朱胡郭何林高罗郑梁谢宋唐许邓冯韩曹曾彭萧蔡潘田董袁于余叶蒋杜苏魏程吕丁沈任姚卢"
    "傅钟姜崔谭廖范汪陆金石戴贾韦夏邱方侯邹熊孟秦白江阎薛尹段雷黎史龙陶贺顾毛郝龚邵万钱严覃武戚莫孔向汤温康施"
    "文牛樊葛邢安齐伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛曲"
    "翁冉骆蓝路游辛靳管柴蒙鲍华喻祁房屈饶解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戈岑景党宫费卜冷晏席卫"
    "米柏宗瞿桂全佟应臧闵苟邬边卞姬师仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝易赖常乔滕凤练蔺苗阚冀谷谌邸景詹束幸卜郗晁耿匡简饶"
)
_DOUBLE = frozenset(
    "欧阳 司马 上官 诸葛 东方 皇甫 尉迟 公孙 令狐 慕容 司徒 夏侯 南宫 端木 百里 轩辕 宇文".split()
)
_PROFESSION = frozenset("师家者员长人匠士工官生手授任")
_NO_PERSON = frozenset("号县镇乡村州市省区路街会社馆院校厂店报山河江湖海桥")  # last characters of other names
_TITLE = (
    "先生",
    "女士",
    "小姐",
    "教授",
    "博士",
    "医生",
    "老师",
    "夫人",
    "主任",
    "院长",
    "校长",
    "总统",
    "主席",
)
_MAN, _WOMAN = ("先生",), ("女士", "小姐", "夫人")
_ACTS = re.compile(
    r"[^，。；]{0,3}?(?:说|认为|喜欢|发言|表示|指出|出生|生于|毕业|逝世|去世|担任|曾任|签|写|创办|设计|爱|娶|嫁|画|亲|走|奔走|张罗)"
)
_KINDS = (  # groups of interchangeable nouns at the ends of names
    ("公司", "企业", "商号", "厂商"),
    ("团体", "组织", "协会", "学会", "社团", "同志会", "研究会", "促进会", "联合会", "会"),
    ("学校", "大学", "中学", "小学", "学院"),
    ("医院",),
    ("银行",),
    ("博物馆",),
    ("天文台",),
    ("大桥", "桥"),
    ("餐厅", "饭店", "酒店"),
    ("工厂", "厂"),
    ("报社", "报纸"),
    ("城市",),
    ("国家",),
)
_NOUNS = {noun: kind[0] for kind in _KINDS for noun in kind}
_LONG_FIRST = "|".join(sorted(_NOUNS, key=lambda noun: (-len(noun), noun)))
_THIS = re.compile(rf"(?:[这该此](?:[家个座所间支届份名])?)({_LONG_FIRST})")
_NOUN = re.compile(_LONG_FIRST)
_ONE = re.compile(rf"一[家个座所间支][^，。；：！？]{{0,14}}?({_LONG_FIRST})(?=[，。；：！？]|$)")
_CALLED = re.compile(r"[（(]?(?:以下)?[简通又]称(?:为|作)?[“\"「『]?([\u4e00-\u9fff]{2,6})[”\"」』）)]")
_PRONOUN = re.compile(r"(?<![其吉])[他她](?![们人])")


class NamedMention(NamedTuple):
    """A mention with the full name of the thing that it names."""

    mention: Mention
    thing: str  # the full name that the mention stands for


@dataclass(frozen=True)
class Repeated:
    """The counts of all repeated strings of 2 to LONGEST Chinese characters in a document."""

    counts: Mapping[str, int]

    def forward(self, run: str) -> str:
        """The name that `run` begins with; empty if there is none. A name grows by the next character while
        most of its occurrences have that character next."""
        return self._grown([run[:size] for size in range(2, min(len(run), LONGEST) + 1)], next_at=-1)

    def backward(self, run: str) -> str:
        """The name that `run` ends with; empty if there is none."""
        return self._grown([run[-size:] for size in range(2, min(len(run), LONGEST) + 1)], next_at=0)

    def _grown(self, longer: Sequence[str], next_at: int) -> str:
        name = ""
        for candidate in longer:
            count = self.counts.get(candidate, 0)
            taken = candidate if not name else candidate[next_at]
            if not count or _NEVER & set(taken) or (name and 5 * count < 3 * self.counts[name]):
                break
            name = candidate
        return name


def repeated_in(passages: Sequence[str]) -> Repeated:
    """The repeated strings of a document with their counts. Every prefix of a repeated string is repeated
    too, so longer strings are counted only at places where the shorter one repeats."""
    text = "\n".join(_RUN.findall("\n".join(passages)[:READ]))
    counts: dict[str, int] = {}
    starts = [at for at, character in enumerate(text) if character != "\n"]
    for size in range(2, LONGEST + 1):
        starts = [at for at in starts if text[at + size - 1 : at + size] not in ("", "\n")]
        occurrences = Counter(text[at : at + size] for at in starts)
        counts |= {string: count for string, count in occurrences.items() if count > 1}
        starts = [at for at in starts if text[at : at + size] in counts]
    return Repeated(counts)


class Chinese:
    def resolve(self, passages: Sequence[str]) -> list[Cluster]:
        repeated = repeated_in(passages)
        people = _people(passages, repeated)
        short = dict(_short_names(passages, repeated))
        kinds = _institutions(passages, repeated)
        names = {name: name for name in (*people, *kinds, *short.values())} | short
        mentions = _every(passages, names)
        mentions += _anaphors(passages, sorted(mentions), people, kinds)
        groups: dict[str, list[Mention]] = defaultdict(list)
        for mention, thing in sorted(mentions):
            groups[thing].append(mention)
        return [tuple(group) for group in groups.values() if len(group) > 1]


def _people(passages: Sequence[str], repeated: Repeated) -> dict[str, str]:
    """The names of persons, each with its gender: `man`, `woman` or, if unknown, an empty string."""
    evidence: Counter[str] = Counter()
    genders: dict[str, str] = {}
    for text in passages:
        for run in _RUN.finditer(text):
            for start in range(run.start(), run.end() - 1):
                name = _person_at(text[start : min(start + LONGEST, run.end())], repeated)
                if name:
                    end = start + len(name)
                    after = text[end : end + _AROUND]
                    evidence[name] += _human(text[max(0, start - _AROUND) : start], after)
                    if after.startswith(_MAN + _WOMAN):
                        genders[name] = "man" if after.startswith(_MAN) else "woman"
    sure = {name: genders.get(name, "") for name in evidence if evidence[name] > 0}
    often = [name for name in evidence if repeated.counts.get(name, 0) > 2]
    return sure or dict.fromkeys(often, "")


def _person_at(run: str, repeated: Repeated) -> str:
    double = run[:2] in _DOUBLE
    if not double and run[0] not in _SINGLE:
        return ""
    name = repeated.forward(run)
    if name[-1:] in _NO_PERSON:
        return ""
    return name if (len(name) in (3, 4) if double else len(name) == 3) else ""


def _human(before: str, after: str) -> int:
    """A score of the evidence beside a name that it is a person's name; 0 for no evidence."""
    named = before.removesuffix("的")[-1:] in _PROFESSION
    return 2 * named + 2 * after.startswith(_TITLE) + bool(_ACTS.match(after))


def _short_names(passages: Sequence[str], repeated: Repeated) -> Iterator[tuple[str, str]]:
    """Yields (short, full) for `某某学会（简称“某会”）` and `某某学会成立于1901年，通称“某会”`."""
    for text in passages:
        for match in _CALLED.finditer(text):
            sentence = re.split(r"[。！？]", text[max(0, match.start() - _CLAUSE) : match.start()])[-1]
            runs = [run for run in _RUN.findall(sentence) if run]
            runs_of_names = [repeated.backward(run) for run in runs] + [repeated.forward(run) for run in runs]
            full = max((name for name in runs_of_names if set(match[1]) <= set(name)), key=len, default="")
            if full and full != match[1]:
                yield match[1], full


def _institutions(passages: Sequence[str], repeated: Repeated) -> dict[str, str]:
    """The names of institutions, each with the first noun of its kind."""
    institutions: dict[str, str] = {}
    for text in passages:
        for match in _NOUN.finditer(text):
            before = text[max(0, match.start() - 2) : match.start()]
            if set(before) & set("这该此"):
                continue
            run = _RUN.match(text, match.end(), match.end() + LONGEST)
            name = repeated.forward(run.group()) if run else ""
            if name:  # 铸铜公司仁益祥记
                institutions.setdefault(name, _NOUNS[match.group()])
            run_before = _RUN.findall(text[max(0, match.start() - LONGEST) : match.end()])
            name = repeated.backward(run_before[-1]) if run_before else ""
            if len(name) > len(match.group()) + 1:  # 荆川学会
                institutions.setdefault(name, _NOUNS[match.group()])
        for match in _ONE.finditer(text):
            name = _apposed(text[max(0, match.start() - _CLAUSE) : match.start()], repeated)
            if name:  # 仁益祥记，荆川的一家铸铜公司
                institutions.setdefault(name, _NOUNS[match[1]])
    return institutions


def _apposed(before: str, repeated: Repeated) -> str:
    """The name that an apposition like `, ... one company` describes: the longest name in the clause before
    it."""
    clauses = re.split(r"[，,：]", re.split(r"[。！？；]", before)[-1])
    if len(clauses) < 2:
        run = _RUN.findall(clauses[0].removesuffix("是"))
        return repeated.forward(run[0]) if run and clauses[0].endswith("是") else ""
    names = {""}
    for run in _RUN.findall(clauses[-2]):
        names |= {repeated.forward(run[start:]) for start in range(len(run) - 1)}
    return max(sorted(names), key=len)


def _every(passages: Sequence[str], names: dict[str, str]) -> list[NamedMention]:
    """All occurrences of all names; of several names that begin together, the longest."""
    begin = {name[:2] for name in names}
    sizes = sorted({len(name) for name in names}, reverse=True)
    return [
        NamedMention(Mention(number, start, end), names[text[start:end]])
        for number, text in enumerate(passages)
        for start, end in _places(text, names, begin, sizes)
    ]


def _places(
    text: str, names: Container[str], begin: Set[str], sizes: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each occurrence from left to right, without overlap. `begin` holds the
    names' first two characters, `sizes` the names' lengths in descending order."""
    at = 0
    while at < len(text) - 1:
        ends = (at + size for size in sizes if at + size <= len(text)) if text[at : at + 2] in begin else ()
        end = next((end for end in ends if text[at:end] in names), None)
        if end is not None:
            yield at, end
        at = end or at + 1


def _anaphors(
    passages: Sequence[str], mentions: Sequence[NamedMention], people: dict[str, str], kinds: dict[str, str]
) -> list[NamedMention]:
    """The pronouns and phrases with an antecedent. He and she refer to the last matching person, and `this
    company` to the last institution of its kind."""
    genders = dict(people)
    anaphors: list[NamedMention] = []
    for number, text in enumerate(passages):
        places = [(match.start(), match.end(), "", match.group()) for match in _PRONOUN.finditer(text)]
        places += [(match.start(), match.end(), _NOUNS[match[1]], "") for match in _THIS.finditer(text)]
        for start, end, kind, pronoun in sorted(places):
            here = Mention(number, start, end)
            until = bisect_left(mentions, (here,))
            earlier = mentions[max(0, until - CLOSEST) : until]
            gender = {"他": "man", "她": "woman"}.get(pronoun, "")
            for item in reversed(earlier):
                if kind and kinds.get(item.thing) == kind:
                    break
                if gender and genders.get(item.thing) in ("", gender):
                    genders[item.thing] = gender
                    break
            else:
                continue
            anaphors.append(NamedMention(here, item.thing))
    return anaphors
