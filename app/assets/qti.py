"""Questions as a QTI 2.1 package, which learning platforms import.

Version 2.1 is what most read today: Canvas, OpenOlat, OPAL, TAO and, with a plugin, Moodle. A
package is a ZIP file: a manifest, a test, and one file for each question.

A choice is a `choiceInteraction`, an order an `orderInteraction`, a point on a figure a
`matchInteraction` of its rows and columns, numbers are `textEntryInteraction`s, and what nothing
judges is an `extendedTextInteraction`. A question of which no answer is right has no score.
"""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from fastapi import Response

QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
SCHEMA = "http://www.w3.org/2001/XMLSchema-instance"
TEMPLATES = "http://www.imsglobal.org/question/qti_v2p1/rptemplates"
QTI_SCHEMA = f"{QTI} http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd"
PACKAGE_SCHEMA = f"{PACKAGE} http://www.imsglobal.org/xsd/qti/qtiv2p1/qtiv2p1_imscpv1p2_v1p0.xsd"
MAX_TITLE = 80  # characters of a question
FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # equal questions are equal files
NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # no character of XML


@dataclass(frozen=True)
class QtiQuestion:
    """A question. Choices have ids; `right` has those that are, of an order all in order."""

    kind: Literal["choice", "order", "numbers", "cell", "text"]
    words: str
    choices: Sequence[tuple[str, str]] = ()  # id and words; of numbers, the fields
    right: Sequence[str] = ()
    rows: Sequence[str] = ()  # of a figure, in which a cell is to be chosen
    columns: Sequence[str] = ()
    numbers: Sequence[float] = ()  # right ones, one for each field
    within: float = 0.0


def package(title: str, lang: str, questions: Sequence[QtiQuestion]) -> bytes:
    """Return the questions as a ZIP file. `lang` is the language of their words."""
    names = [f"question-{n}" for n in range(1, len(questions) + 1)]
    files = {"imsmanifest.xml": _manifest(names), "test.xml": _test(title, names)}
    for name, question in zip(names, questions, strict=True):
        files[f"{name}.xml"] = _item(name, lang, question)
    content = io.BytesIO()
    with ZipFile(content, "w") as archive:
        for path, element in files.items():
            text = ElementTree.tostring(element, encoding="utf-8", xml_declaration=True)
            archive.writestr(ZipInfo(path, FIRST_DAY), text, ZIP_DEFLATED)
    return content.getvalue()


def _root(tag: str, namespace: str, schema: str, **attributes: str) -> Element:
    located = {"xmlns": namespace, "xmlns:xsi": SCHEMA, "xsi:schemaLocation": schema}
    return Element(tag, {**located, **attributes})


def _add(parent: Element, tag: str, text: str | None = None, **attributes: str) -> Element:
    element = SubElement(parent, tag, {name: plain(value) for name, value in attributes.items()})
    element.text = None if text is None else plain(text)
    return element


def plain(text: str) -> str:
    """Return a text without the control characters that no XML file can have."""
    return NO_XML.sub("", text)


def _manifest(names: Sequence[str]) -> Element:
    root = _root("manifest", PACKAGE, PACKAGE_SCHEMA, identifier="headlight-questions")
    metadata = _add(root, "metadata")
    _add(metadata, "schema", "QTIv2.1 Package")
    _add(metadata, "schemaversion", "1.0.0")
    _add(root, "organizations")
    resources = _add(root, "resources")
    test = _add(
        resources, "resource", identifier="test", type="imsqti_test_xmlv2p1", href="test.xml"
    )
    _add(test, "file", href="test.xml")
    for name in names:
        _add(test, "dependency", identifierref=name)
        path, kind = f"{name}.xml", "imsqti_item_xmlv2p1"
        item = _add(resources, "resource", identifier=name, type=kind, href=path)
        _add(item, "file", href=path)
    return root


def _test(title: str, names: Sequence[str]) -> Element:
    root = _root("assessmentTest", QTI, QTI_SCHEMA, identifier="test", title=plain(title) or "–")
    part = _add(
        root, "testPart", identifier="part", navigationMode="nonlinear", submissionMode="individual"
    )
    section = _add(part, "assessmentSection", identifier="section", title=title, visible="true")
    for name in names:
        _add(section, "assessmentItemRef", identifier=name, href=f"{name}.xml")
    return root


def _item(name: str, lang: str, question: QtiQuestion) -> Element:
    title = plain(" ".join(question.words.split()))[:MAX_TITLE] or "–"
    about = {"identifier": name, "title": title, "adaptive": "false", "timeDependent": "false"}
    root = _root("assessmentItem", QTI, QTI_SCHEMA, **about, **{"xml:lang": lang})
    body = Element("itemBody")
    for line in question.words.splitlines() or [""]:
        _add(body, "p", line)
    if question.kind == "numbers":
        _numbers(root, body, question)
        return root
    if question.kind == "cell":
        _cell(body, question)
    elif question.kind == "text":
        _add(body, "extendedTextInteraction", responseIdentifier="RESPONSE")
    else:
        _options(body, question)
    _declare(root, question)
    _outcome(root)
    root.append(body)
    if question.right and question.kind != "text":
        several = question.kind != "order" and len(question.right) > 1
        template = "map_response" if several else "match_correct"
        _add(root, "responseProcessing", template=f"{TEMPLATES}/{template}")
    return root


def _options(body: Element, question: QtiQuestion) -> None:
    """Add the choices of a question, of which one is chosen or all are put in order."""
    tags = {"choice": "choiceInteraction", "order": "orderInteraction"}
    about = {"responseIdentifier": "RESPONSE", "shuffle": "false"}
    about |= {"maxChoices": "1"} if question.kind == "choice" else {}
    interaction = _add(body, tags[question.kind], **about)
    for choice, words in question.choices:
        _add(interaction, "simpleChoice", words, identifier=f"choice-{choice}")


def _cell(body: Element, question: QtiQuestion) -> None:
    """Add a match of a row with a column."""
    about = {"responseIdentifier": "RESPONSE", "shuffle": "false", "maxAssociations": "1"}
    interaction = _add(body, "matchInteraction", **about)
    for side, labels in (("row", question.rows), ("column", question.columns)):
        axis = _add(interaction, "simpleMatchSet")
        for n, label in enumerate(labels):
            choice = f"{side}-{n}"
            _add(axis, "simpleAssociableChoice", label, identifier=choice, matchMax="1")


def _declare(root: Element, question: QtiQuestion) -> None:
    """Declare the response, what is right, and what each right one counts if there are several."""
    cardinality = "ordered" if question.kind == "order" else "single"
    base = {"cell": "directedPair", "text": "string"}.get(question.kind, "identifier")
    declared = {"cardinality": cardinality, "baseType": base}
    declaration = _add(root, "responseDeclaration", identifier="RESPONSE", **declared)
    if not question.right or question.kind == "text":
        return
    values = [_value(question, right) for right in question.right]
    correct = _add(declaration, "correctResponse")
    for value in values if question.kind == "order" else values[:1]:
        _add(correct, "value", value)
    if question.kind != "order" and len(values) > 1:
        mapping = _add(declaration, "mapping", defaultValue="0")
        for value in values:
            _add(mapping, "mapEntry", mapKey=value, mappedValue="1")


def _value(question: QtiQuestion, right: str) -> str:
    if question.kind != "cell":
        return f"choice-{right}"
    row, column = right.split()
    return f"row-{row} column-{column}"


def _outcome(root: Element) -> None:
    _add(root, "outcomeDeclaration", identifier="SCORE", cardinality="single", baseType="float")


def _numbers(root: Element, body: Element, question: QtiQuestion) -> None:
    """Add a field for each number; the answer is right if all are, within the tolerance."""
    fields = [f"RESPONSE-{n}" for n in range(1, max(1, len(question.choices)) + 1)]
    labels = [words for _, words in question.choices] or [""]
    judged = len(question.numbers) == len(fields)
    for n, (field, label) in enumerate(zip(fields, labels, strict=True)):
        declared = {"cardinality": "single", "baseType": "float"}
        declaration = _add(root, "responseDeclaration", identifier=field, **declared)
        if judged:
            _add(_add(declaration, "correctResponse"), "value", f"{question.numbers[n]:.6g}")
        paragraph = _add(body, "p", f"{label} " if label else "")
        _add(paragraph, "textEntryInteraction", responseIdentifier=field, expectedLength="10")
    _outcome(root)
    root.append(body)
    if not judged:
        return
    condition = _add(_add(root, "responseProcessing"), "responseCondition")
    branch = _add(condition, "responseIf")
    all_right = _add(branch, "and") if len(fields) > 1 else branch
    for field in fields:
        tolerance = {"toleranceMode": "absolute", "tolerance": f"{question.within:.6g}"}
        equal = _add(all_right, "equal", **tolerance)
        _add(equal, "variable", identifier=field)
        _add(equal, "correct", identifier=field)
    score = _add(branch, "setOutcomeValue", identifier="SCORE")
    _add(score, "baseValue", "1", baseType="float")


ZIP = "application/zip"
# For the API reference.
QTI_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A QTI 2.1 package.",
        "content": {ZIP: {"schema": {"type": "string", "format": "binary"}}},
    }
}


def qti_reply(content: bytes, name: str) -> Response:
    """Return a package as a download that is not kept: it has the right answers."""
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="questions-{name}.zip"',
    }
    return Response(content, headers=headers, media_type=ZIP)
