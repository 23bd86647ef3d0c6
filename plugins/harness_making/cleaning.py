"""The maker `clean-queries`: rules for the queries that T2Ranking filters out (section 4.1)."""

from __future__ import annotations

import re
import unicodedata

from harness.plugin import Made, MakerInput, Query
from harness_making import CleanParams

# Words that ask a question: in Chinese anywhere in the query, in English at its beginning or after a comma.
ASKS = re.compile(
    r"什么|甚么|啥|怎么|怎样|咋|如何|为何|为啥|哪|谁|几|多少|多大|多久|多长|多高|多远|多重|吗|呢|么|是否|能否|可否|"
    r"有没有|有无|是不是|能不能|会不会|可不可以|要不要|好不好|行不行|区别|意思|原因"
    r"|(^|[,;:] ?)(who|whom|whose|what|which|when|where|why|how|is|are|was|were|am|do|does|did|can|could|"
    r"should|would|will|shall|may|might|must|has|have|had)\b"
)
HOW = re.compile(r"怎么|怎样|如何|为什么|哪|吗|是否|能否|什么|^(how|why|where|what|which|is|can|do|does)\b")
# Words that ask for a resource, such as a download, rather than for an answer.
RESOURCE = re.compile(
    r"下载|在线(观看|播放|试听|阅读)|试听|免费(看|听|观看)|百度云|网盘|磁力|迅雷|种子|歌词|全集|官网|登录入口|破解版"
    r"|高清(版|图片|壁纸)|壁纸|(mp3|mp4|txt|pdf|apk|torrent)\b|\b(download|torrent|lyrics|watch online)\b"
    r"|\bfull (movie|album|episode)s?\b|\blog ?in\b|\bofficial (site|website)\b|\bwallpapers?\b"
)
MARKS = re.compile(r"[\s?？!！。.,，]+")


class CleanQueries:
    """Leaves out queries by rules. The first rule that a query meets is counted: a duplicate, a request for a
    resource, no question, a rule of the suite. Asking how, why or where about a resource is a question."""

    def __init__(self, params: CleanParams) -> None:
        self._params = params
        self._rules = [re.compile(rule) for rule in params.rules]

    def make(self, data: MakerInput) -> Made:
        seen: set[str] = set()
        kept: list[Query] = []
        for query in data.asked():
            why = self.reason(query.text, seen)
            if why is None:
                kept.append(query)
            else:
                data.tally.drop("queries", why, query.text)
        ids = {query.id for query in kept}
        return Made(
            queries=kept, judgements=(judgement for judgement in data.judged() if judgement.query in ids)
        )

    def reason(self, text: str, seen: set[str]) -> str | None:
        """The reason why the query is left out, or None if it stays. The query's text without blanks, case
        and marks is added to `seen`, so that later duplicates are found."""
        plain = unicodedata.normalize("NFKC", text).lower().strip()
        params, bare = self._params, MARKS.sub("", plain)
        if params.duplicates and bare in seen:
            return "a duplicate but for blanks, case and marks"
        seen.add(bare)
        if params.resources and RESOURCE.search(plain) and not HOW.search(plain):
            return "a request for a resource"
        if params.questions and not (plain.endswith("?") or ASKS.search(plain)):
            return "no question"
        for rule in self._rules:
            if rule.search(text):
                return f"the rule {rule.pattern}"
        return None
