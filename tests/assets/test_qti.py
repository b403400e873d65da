"""QTI packages: their structure as the specification has it, and texts of any kind."""

import io
import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from zipfile import ZipFile

from hypothesis import given, settings
from hypothesis import strategies as st

from app.assets.qti import QTI, QtiQuestion, package, plain
from app.figures.links import Asked, qti_question

NS = {"q": QTI, "p": "http://www.imsglobal.org/xsd/imscp_v1p1"}
NAME = re.compile(r"[A-Za-z_][\w.-]*")  # an identifier
# The order in which the specification has the parts of a question.
PARTS = ("responseDeclaration", "outcomeDeclaration", "itemBody", "responseProcessing")
AXES = {"rows": ["The", "<bos>→猫"], "columns": ["The", "cat"]}
QUESTIONS = [
    QtiQuestion("choice", "Softmax?\nSay", [("0", "a < b & c"), ("1", "“b”")], ["1"]),
    QtiQuestion("choice", "Either?", [("x", "x"), ("y", "y")], ["x", "y"]),
    QtiQuestion("choice", "Your opinion?", [("0", "yes"), ("1", "no")]),
    QtiQuestion("order", "In order?", [("0", "b"), ("1", "a")], ["1", "0"]),
    QtiQuestion("numbers", "How much?", [("0", "it")], numbers=[0.25], within=0.05),
    QtiQuestion("numbers", "Fill in", [("0", "it"), ("1", "at")], numbers=[0.25, -1]),
    QtiQuestion("cell", "Where?", right=["1 0", "0 1"], rows=AXES["rows"], columns=AXES["columns"]),
    QtiQuestion("text", "为什么？"),
]


def parsed(content: bytes) -> dict[str, Element]:
    with ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: ElementTree.fromstring(archive.read(name)) for name in archive.namelist()}


def local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def check_item(item: Element) -> None:
    parts = [PARTS.index(local(part)) for part in item]
    assert parts == sorted(parts)
    assert item.attrib["title"]
    named = item.findall(".//*[@identifier]")
    for scope in (".//q:itemBody//*[@identifier]", "./*[@identifier]"):
        names = [element.attrib["identifier"] for element in item.findall(scope, NS)]
        assert len(names) == len(set(names))
    assert all(NAME.fullmatch(element.attrib["identifier"]) for element in named)
    declared = {
        declaration.attrib["identifier"]: declaration
        for declaration in item.findall("q:responseDeclaration", NS)
    }
    answered = [element.get("responseIdentifier") for element in item.iter()]
    assert sorted(filter(None, answered)) == sorted(declared)
    choices = {
        element.attrib["identifier"]
        for element in item.findall(".//q:itemBody//*[@identifier]", NS)
    }
    for declaration in declared.values():
        values = [value.text or "" for value in declaration.findall(".//q:value", NS)]
        keys = [entry.attrib["mapKey"] for entry in declaration.findall(".//q:mapEntry", NS)]
        for value in [*values, *keys]:
            if declaration.attrib["baseType"] == "float":
                float(value)
            else:
                assert {*value.split()} <= choices
        if declaration.attrib["cardinality"] == "single":
            assert len(values) <= 1
    judged = any(list(declaration) for declaration in declared.values())
    assert judged == (item.find("q:responseProcessing", NS) is not None)


def test_a_package_has_a_manifest_a_test_and_a_file_for_each_question() -> None:
    files = parsed(package("Week <2>", "en", QUESTIONS))
    manifest = files["imsmanifest.xml"]
    listed = [file.attrib["href"] for file in manifest.findall(".//p:file", NS)]
    assert sorted([*listed, "imsmanifest.xml"]) == sorted(files)
    resources = [
        resource.attrib["identifier"] for resource in manifest.findall(".//p:resource", NS)
    ]
    needed = [found.attrib["identifierref"] for found in manifest.findall(".//p:dependency", NS)]
    assert sorted(["test", *needed]) == sorted(resources)
    test = files["test.xml"]
    assert test.attrib["title"] == "Week <2>"
    refs = [ref.attrib["href"] for ref in test.findall(".//q:assessmentItemRef", NS)]
    assert refs == [f"question-{n}.xml" for n in range(1, len(QUESTIONS) + 1)]
    for path in refs:
        check_item(files[path])
    assert package("Week <2>", "en", QUESTIONS) == package("Week <2>", "en", QUESTIONS)


def test_what_is_right_is_in_each_kind_of_question() -> None:
    files = parsed(package("", "en", QUESTIONS))
    values = [
        [value.text for value in files[f"question-{n}.xml"].findall(".//q:value", NS)]
        for n in range(1, len(QUESTIONS) + 1)
    ]
    assert values == [
        ["choice-1"],
        ["choice-x"],
        [],
        ["choice-1", "choice-0"],
        ["0.25"],
        ["0.25", "-1"],
        ["row-1 column-0"],
        [],
    ]
    mapped = files["question-7.xml"].findall(".//q:mapEntry", NS)
    assert [entry.attrib["mapKey"] for entry in mapped] == ["row-1 column-0", "row-0 column-1"]
    lines = [line.text for line in files["question-1.xml"].findall(".//q:p", NS)]
    assert lines == ["Softmax?", "Say"]
    equal = files["question-5.xml"].find(".//q:equal", NS)
    assert equal is not None
    assert equal.attrib == {"toleranceMode": "absolute", "tolerance": "0.05"}


@settings(max_examples=40, deadline=None)
@given(st.text(), st.lists(st.text(min_size=1), min_size=2, max_size=4))
def test_any_text_comes_back_as_it_was(words: str, options: list[str]) -> None:
    choices = [(str(n), text) for n, text in enumerate(options)]
    item = parsed(package(words, "zh", [QtiQuestion("choice", words, choices, ["0"])]))[
        "question-1.xml"
    ]
    check_item(item)
    texts = [choice.text or "" for choice in item.findall(".//q:simpleChoice", NS)]
    # XML itself makes one kind of line end of all.
    assert texts == [re.sub("\r\n?", "\n", plain(text)) for text in options]


def test_a_question_is_in_the_language_of_the_reader() -> None:
    about = Asked.model_validate(
        {
            "kind": "choice",
            "link": "",
            "words": "What?",
            "options": [{"text": "one", "note": "secret"}, {"text": "two"}],
            "translations": {"zh": {"words": "什么？", "options": ["一", "二"]}},
        }
    )
    english, chinese = (qti_question("choice", about, lang, right=["1"]) for lang in ("en", "zh"))
    assert (english.words, english.choices) == ("What?", [("0", "one"), ("1", "two")])
    assert (chinese.words, chinese.choices) == ("什么？", [("0", "一"), ("1", "二")])
    named = {"the same": "same", "it changes": "other"}  # ids that are no identifiers of XML
    asked = Asked(kind="off", link="")
    known = qti_question("choice", asked, "en", choices=named, right=["it changes"])
    assert (known.choices, known.right) == ([("0", "same"), ("1", "other")], ["1"])
    drawn = qti_question("shares", about.model_copy(update={"options": None}), "en")
    assert (drawn.kind, drawn.words) == ("text", "What?")
