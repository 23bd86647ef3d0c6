"""Open-domain question answering: a run on DPR's files, scored by the answers that passages contain."""

from running import Harness, rows

SUITE = """
suite: nq
datasets: {nq: {files: {corpus: psgs_w100.tsv, queries: nq-test.qa.csv, language: en}}}
systems: {bm25: {context: [titles], retriever: bm25}}
protocol: rocketqav2-nq
depth: 100
"""


def test_the_papers_split_is_scored_by_answers(tmp_path):
    harness = Harness(tmp_path, here=True)
    passages = ["the tower stands in Paris", "a bridge of stone", "the castle was built in 1880"]
    lines = [f'{number}\t"{text}"\tTower\n' for number, text in enumerate(passages, 1)]
    (tmp_path / "psgs_w100.tsv").write_text("id\ttext\ttitle\n" + "".join(lines), encoding="utf-8")
    questions = "where does the tower stand\t['Paris']\nwhen was the castle built\t['1999']\n"
    (tmp_path / "nq-test.qa.csv").write_text(questions, encoding="utf-8")
    harness.suite(SUITE)
    ran = harness.run()
    assert ran.code == 0, ran.err
    measures = rows(harness.out)["bm25"]["measures"]
    assert {label: value["mean"] for label, value in measures.items()} == dict.fromkeys(measures, 0.5)
    assert {value["queries"] for value in measures.values()} == {2}
