"""The prompt of mxbai-rerank-v2, a language model that answers 1 for a relevant passage and 0 for another."""

from __future__ import annotations

from harness.toolkit.neural.tokens import Template, Tokeniser

ANSWERS = ("0", "1")
# the format in the authors' code, mixedbread-ai/mxbai-rerank
BEFORE = (
    "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n"
    "<|im_start|>user\n"
)
TASK = (
    "You are a search relevance expert who evaluates how well documents match search queries. For each "
    "query-document pair, carefully analyze the semantic relationship between them, then provide your binary "
    "relevance judgment (0 for not relevant, 1 for relevant).\nRelevance:"
)
AFTER = "<|im_end|>\n<|im_start|>assistant\n"


def parts(instruction: str, query: str, text: str) -> tuple[str, str]:
    """The two texts of a pair: the query, with its instruction if there is one, and the passage."""
    before = f"instruction: {instruction}\n" if instruction else ""
    return f"{before}query: {query}", f"document: {text}"


def prompted(tokeniser: Tokeniser) -> Tokeniser:
    """The tokeniser with the prompt around each pair. Every part is tokenised alone, as in the authors'
    code: a query's last sign and the line break after it stay two tokens."""

    def ids(text: str) -> tuple[int, ...]:
        return tuple(tokeniser.backend.encode(text, add_special_tokens=False).ids)

    line = ids("\n")
    return tokeniser._replace(pair=Template(ids(BEFORE), line, (*line, *ids(TASK), *ids(AFTER))))
