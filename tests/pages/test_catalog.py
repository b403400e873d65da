"""All texts of the page are in the catalog and translated into every language."""

import json
import re
from collections.abc import Iterator
from functools import cache

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from tests.servers import ROOT

LOCALE = ROOT / "locale"
KEYWORDS: dict[str, None] = {"_": None, "t": None}
JINJA = {"newstyle_gettext": "true", "trimmed": "true"}
METHODS = [
    ("templates/**.html", "jinja2"),
    ("static/js/**.js", "javascript"),
    ("headlight/**.py", "python"),
]
PLACES = re.compile(r"\{\w+\}|%\(\w+\)s")
# Terms with one fixed translation.
TERMS = {
    "松开|放开|固定的格|取消固定": "取消选定",
    "格子|每格": "单元格",
    "特殊标记": "特殊词元",
    "(?<!台)机器": "模型",
    "假如": "改一改，看结果",
    "定格|冻结": "保存",
    "抽签|抽中|抽到": "采样",
    "出局": "未入选",
    "打点": "以圆点标出",
    "写法": "解码方式",
    "按文字判断": "自动检测",
    "要紧": "重要",
    "系于": "对……敏感",
    "受过对齐": "训练时加入了对齐监督",
    r"第 ?(\d+|\{\w+\}) ?头|[上下]一头": "第 3 个头",
    r"^第一个$|第一个词元": "首词元",
    # Under the cells of the model map, there is room only for 交叉.
    r"^流$|^特殊$|交叉，": "注意力流、特殊词元、交叉注意力",
    "查询（看）": "查询（谁在看）",
    "得分": "分数",
    "屏蔽": "遮蔽",
    "学习式": "可学习",
    "源句|源语句": "原句",
    "纳特": "奈特",
    "您": "你",
    "遮住|盖住|遮罩|蒙版": "遮蔽、掩码",
    "前馈层": "前馈网络",
    "隐层": "隐藏层",
    "令牌|记号": "词元",
    "注意头|(自|交叉)注意(?!力)": "注意力头、自注意力、交叉注意力",
    "权值|比重": "权重",
    "学习速率": "学习率",
    "贪婪": "贪心",
    "集束": "束搜索",
    "抽样": "采样",
    "看见每个|谁也不能": "看看每个注意力头在关注什么、对所有头隐藏",
    "走过的路": "所选路径与备选",
    "一样地看|看得一样": "接近均匀分布",
    "已选定的一对": "选中的词元对",
    "(?<!…)…(?!…)": "……",
    r"(^|[。，：；（])点[“一]": "点击",
}
# English phrases that a reader stumbles over; on the right, what to write.
STILTED = {
    r"\bhangs? on\b": "depends on",
    r"\bheld (against|to)\b": "compared with",
    r"\bworked out\b": "computed",
    r"\bhands? (on|over)\b": "outputs, passes on",
    r"\bgood for\b": "the effect of",
    r"\bno number any more\b": "no longer a number",
    r"\blooks right\b": "looks at the right token",
    r"\bstrongest look\b|\bspreads its look\b": "looks most at; its attention is spread out",
    r"\btaught to\b": "supervised to",
    r"\bin the draw\b|\bthe lot fell\b": "sampled",
    r"\bgoes? on (with|from)\b": "continues",
    r"\blearnt\b": "learned",
    r"\bcross attention\b": "cross-attention",
    r"(?<!each )\b(nats|row|column|step|tokens) a (token|key|channel|word|head|step)": "per",
    r"\bfurthest apart\b": "largest difference",
    r"\bstands? (where|at|over|behind|beside|above|before|in place)\b": "is",
    r"\bto be had\b": "available",
    r"\bis looked at\b.*\bmost\b": "looks most at",
    r"\bthe machine\b": "the model",
    r"\b(let|lets) go\b": "unpin",
}


@cache
def said() -> set[str]:
    """Return every message of the templates and of the page's JavaScript."""
    found = extract_from_dir(
        ROOT,
        method_map=METHODS,
        options_map={"templates/**.html": JINJA},
        keywords=KEYWORDS,
        directory_filter=lambda path: not re.search(r"/(\.|node_modules|data)", str(path)),
    )
    return {message for _, _, message, _, _ in found if isinstance(message, str)}


@cache
def read(path: str) -> Catalog:
    with (LOCALE / path).open("rb") as file:
        return read_po(file)


def messages(catalog: Catalog) -> Iterator[Message]:
    return (message for message in catalog if message.id)


def test_template_has_what_is_said_and_nothing_else() -> None:
    assert {str(message.id) for message in messages(read("messages.pot"))} == said()


@pytest.mark.parametrize("path", sorted(LOCALE.glob("*/LC_MESSAGES/messages.po")))
def test_language_is_complete_and_keeps_the_places(path: object) -> None:
    catalog = read(str(path))
    for message in messages(catalog):
        assert message.string, f"not translated: {message.id}"
        assert not message.fuzzy, f"not sure: {message.id}"
        wanted = sorted(PLACES.findall(str(message.id)))
        assert sorted(PLACES.findall(str(message.string))) == wanted, message.id
    assert {str(message.id) for message in messages(catalog)} == said()


def test_chinese_is_punctuated_in_chinese() -> None:
    for message in messages(read("zh/LC_MESSAGES/messages.po")):
        text = str(message.string)
        assert not re.search(r"[\u4e00-\u9fff][,:;?!]|[,:;?!][\u4e00-\u9fff]", text), text


def chinese() -> Iterator[str]:
    """Yield every Chinese text of the page."""
    for message in messages(read("zh/LC_MESSAGES/messages.po")):
        yield str(message.string)
    for entry in json.loads((ROOT / "static/glossary.json").read_text("utf-8")).values():
        yield from entry["zh"].values()
    for path in [ROOT / "README.zh.md", *sorted((ROOT / "lessons").glob("*/zh.md"))]:
        yield from path.read_text("utf-8").splitlines()


def test_texts_use_the_terms_and_plain_words() -> None:
    for texts, phrases in (([*chinese()], TERMS), (said(), STILTED)):
        for phrase, instead in phrases.items():
            pattern = re.compile(phrase, re.IGNORECASE)
            assert not (found := [text for text in texts if pattern.search(text)]), (instead, found)


@pytest.mark.parametrize("path", ["messages.pot", "zh/LC_MESSAGES/messages.po"])
def test_catalog_holds_each_message_once(path: str) -> None:
    lines = (LOCALE / path).read_text("utf-8").splitlines()
    heads = sum(line.startswith("msgid ") for line in lines)
    assert heads == 1 + len(list(messages(read(path)))), "a message stands twice"
    assert not [line for line in lines if line.startswith(("#~", "<<<<", "====", ">>>>"))]
