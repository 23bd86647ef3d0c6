"""Invented Chinese names: places, epithets, people, firms, societies, ships and objects.

As in English, the first characters of places, of titles, of societies and of objects differ, so that
a name says which kind it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness_tour.names import joined, nth

_TITLE = tuple("霁沄岚翎珩澹蘅崧筠漪璟嵘钤旌樾沅峤芷琬缙洵翊岫菡瑾霈楫泓镕骞昱涵绮栾邺颢铮溱芮谌")
_TOWN = tuple("枫柏荻棠桐榆槐杏菱芦稻蓼柘楝桦檀橘莲蒲茅麦桑竹梨柿枣柑椒茶藕姜葛苇蕉荔椿栗杉榕楠")
_SOCIETY = tuple("汾泾洮潞淇涪沔郢鄱汜泗沂漳濮洧潍溧渭沱酉邕黔湟岷湘赣闽粤滇琼蓟邯郸荆襄郧歙婺衢睦")
_OBJECT = tuple("玄苍翠绛紫缃黛赭绯素靛绀橙碧朱皓墨琥珀玳瑁珊瑚琉璃玛瑙翡玫琅琳琮璧璋玦珏璇玑瑶琨")
_TAILS = tuple("溪塘岭浦坪冈坞屿汀湾渚陂墩垭圩淀洲泉潭壑崖坡沟涧荡埠堰碶峪峒坳川泽涯峰麓岗堤垸埂")
_SUFFIXES = ("镇", "县", "乡", "村", "州")
_EPITHET = tuple("望听怀挹揽倚枕观漱抱衔栖延摘步涤濯沐醉吟")
_EPITHET_TAILS = tuple("舒雨远翠月云霞梅松鹤雪岚曦星露荷菊兰虹鸥")
_SURNAMES = tuple(
    "顾沈陆韩梁谢苏叶潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金郝孔白崔康毛邱秦江史侯邵孟龙段雷钱汤尹黎"
    "易常武乔贺赖龚文欧柳冯蒋蔡余董程袁邓"
)
_GIVEN = tuple(
    "承嘉若思景明静宜书文雅清怀远知行允德玉立子安守正惠芳慕白君实维新敬之尚志培元慎言仲平季英伯钧叔衡"
    "廷光绍先启东士林如松汝霖希哲秉哉汉卿凤仪秀岩佩兰淑贞婉"
)
_TRADE = tuple("裕恒昌瑞丰泰隆盛兴茂源顺祥福德润聚鼎鸿广协义信诚和永同万亿利益厚宏大公正生春华荣康宁庆仁")
_TRADE_TAILS = ("记", "行", "号", "坊")
_FIELDS = (
    *("水文观测", "民歌采集", "乡土工艺", "通俗读书", "园林史料", "夜校教育", "山地救援", "古旧机械"),
    *("地图校订", "气候记录", "鸟类调查", "行道树木", "失传行业", "方志整理", "科普讲演", "内河航运"),
    *("青年劳动", "公平价格", "平民住宅", "徒步旅行"),
)
_BODIES = ("学会", "协会", "联合会", "促进会", "研究会", "同志会", "互助会", "公会", "理事会", "基金会")
_SIZES = ("", "大", "小", "古", "双耳", "鎏金", "彩绘", "铜制", "百年", "六角")
_SHIP_A = tuple("顺安平利永海江长飞逐瑞吉庆乘破怡清朝晚凌")
_SHIP_B = tuple("风济澜航波涛潮鸥帆舟远达通瀛津")

_TITLE_STEMS = joined(_TITLE, _TAILS)
_PLACES = tuple(stem + suffix for stem in joined(_TOWN, _TAILS) for suffix in _SUFFIXES)
_SOCIETY_STEMS = joined(_SOCIETY, _TAILS)
_OBJECT_STEMS = joined(_OBJECT, _TAILS)
_EPITHETS = joined(_EPITHET, _EPITHET_TAILS)


def place(draw: Callable[[], float]) -> str:
    return _PLACES[int(draw() * len(_PLACES))]


def names(index: int, nouns: tuple[str, ...], seed: int, draw: Callable[[], float]) -> Mapping[str, str]:
    """The names of document `index`; `nouns` are what its subject may call its treasure."""
    title = nth(index, len(_TITLE_STEMS) * len(_EPITHETS), seed, "title")
    return {
        "stem": _TITLE_STEMS[title % len(_TITLE_STEMS)],
        "family": _EPITHETS[title // len(_TITLE_STEMS)],
        "person": _person(index, seed),
        "ta": "她" if draw() < 0.5 else "他",
        "firm": _firm(index, seed),
        **_society(index, seed),
        "artefact": _artefact(index, nouns, seed),
        "ship": f"{_SHIP_A[int(draw() * len(_SHIP_A))]}{_SHIP_B[int(draw() * len(_SHIP_B))]}号",
    }


def _person(index: int, seed: int) -> str:
    number = nth(index, len(_SURNAMES) * len(_GIVEN) ** 2, seed, "person")
    number, surname = divmod(number, len(_SURNAMES))
    last, first = divmod(number, len(_GIVEN))
    return _SURNAMES[surname] + _GIVEN[first] + _GIVEN[last]


def _firm(index: int, seed: int) -> str:
    size = len(_TRADE)
    number = nth(index, size**3 * len(_TRADE_TAILS), seed, "firm")
    number, first = divmod(number, size)
    number, second = divmod(number, size)
    tail, third = divmod(number, size)
    return _TRADE[first] + _TRADE[second] + _TRADE[third] + _TRADE_TAILS[tail]


def _society(index: int, seed: int) -> dict[str, str]:
    """The short name takes the first character of the place, of the field, and the body's last."""
    number = nth(index, len(_SOCIETY_STEMS) * len(_FIELDS) * len(_BODIES), seed, "society")
    number, stem = divmod(number, len(_SOCIETY_STEMS))
    body, field = divmod(number, len(_FIELDS))
    parts = (_SOCIETY_STEMS[stem], _FIELDS[field], _BODIES[body])
    return {"full": "".join(parts), "short": parts[0][0] + parts[1][0] + parts[2][-1]}


def _artefact(index: int, nouns: tuple[str, ...], seed: int) -> str:
    """Subjects have nouns of their own and take turns, so a fifth of the numbers is enough."""
    number = nth(index // 5, len(_OBJECT_STEMS) * len(nouns) * len(_SIZES), seed, f"artefact/{nouns[0]}")
    number, stem = divmod(number, len(_OBJECT_STEMS))
    size, noun = divmod(number, len(nouns))
    return _OBJECT_STEMS[stem] + _SIZES[size] + nouns[noun]
