"""The gate: fair patterns, read and counted correctly."""

from collections import Counter
from pathlib import Path

import pytest

from model.__main__ import main
from model.measure.scores import Gated, Passage, failures, plain, read_gate, table

GATE = {one.text: one for one in read_gate()}

# Good translations, separated by "|", and wrong ones.
SAMPLE = [
    ("你好", "Hello.|Hi!|Hello there!", "You're so good.|Good.|Hello, are you good at it?"),
    ("Hello", "你好！|您好。|嗨！", "好。|你好像不错。"),
    ("How are you?", "你好吗？|你怎么样？|最近怎么样？|您最近好吗？", "你是谁？|你多大？"),
    (
        "Attention is all you need.",
        "你只需要注意力。|注意力就是你所需要的一切。|你需要的只是注意力。|"
        "注意力就够了。|你所需要的只是关注。",
        "总体体是你需要的。|注意你需要的一切都没有。|你不需要注意。",
    ),
    (
        "I think, therefore I am.",
        "我思故我在。|我思考，所以我存在。|我想，所以我存在。",
        "我想，以前在那里。|我想是的。",
    ),
    (
        "我思故我在。",
        "I think, therefore I am.|I think, so I exist.",
        "I think I'm here.|I am here.",
    ),
    (
        "Barack Obama was the president of the United States.",
        "巴拉克·奥巴马是美国总统。|奥巴马曾任美国总统。|巴拉克奥巴马曾经是美国的总统。",
        "Barackbama是美国的总统。|奥巴马是总统。|奥巴马是英国总统。",
    ),
    (
        "我爱北京天安门。",
        "I love Tiananmen in Beijing.|I love Beijing Tiananmen Square!|"
        "I love Beijing's Tian'anmen.",
        "I love Hokkaido.|I love Beijing.",
    ),
    ("我叫王芳。", "My name is Wang Fang.|I'm Wang Fang.", "My name is Hangzi.|My name is Wang."),
    ("May 3, 2024", "2024年5月3日|2024年5月3号。", "2024年3月5日|5月3日|204年5月3日"),
    ("2024年5月3日", "May 3, 2024|3 May 2024|May 3rd, 2024.", "March 5, 2024|May 3, 2004|May 3"),
    (
        "现在是上午十点。",
        "It's 10 a.m.|It's ten o'clock in the morning.|It is now 10 a.m.",
        "It's ten p.m.|It's two in the morning.",
    ),
    ("3 + 4 = 7", "3 + 4 = 7|3+4=7|三加四等于七。", "3 + 4 = 8|3 + 7|30 /4"),
    (
        "China has 1.4 billion people.",
        "中国有14亿人。|中国有十四亿人口。|中国人口有14亿。",
        "中国有1.4亿人。|中国有40亿人。",
    ),
    (
        "中国有14亿人。",
        "China has 1.4 billion people.|There are 1.4 billion people in China.",
        "China has 14 billion people.|China has 14 people.",
    ),
    ("他身高一米八。", "He is 1.8 meters tall.|He's 180 cm tall.", "He is eight meters tall."),
    ("It costs $20.", "它要20美元。|这个二十美元。|价格是20美元。", "它要20欧元。|它要200美元。"),
    ("这件衣服200元。", "This dress costs 200 yuan.|It's ¥200.", "This dress is 20 yuan."),
    ("Only 3 percent agreed.", "只有3%同意。|只有百分之三的人同意。", "只有百分之百同意。"),
    (
        "地铁站怎么走？",
        "How do I get to the subway station?|Where is the subway station?|"
        "Which way is the metro station?",
        "How do the subway station go?|How does the subway go?",
    ),
    (
        "The animal didn't cross the street because it was too tired",
        "动物没有穿过马路，因为它太累了。|那只动物没有过马路，因为它太累了。|因为太累了，动物没过马路。",
        "动物穿过马路，因为它太累了。|动物因为它累得不是因为它没有穿过街道。",
    ),
    (
        "今天天气真好",
        "The weather is really nice today.|It's a beautiful day today.|What a nice day!|"
        "Nice weather today.",
        "Today is hot.|The weather is bad today.|The weather forecast was nice to say it.",
    ),
    ("can i help you", "我能帮你吗？|需要帮忙吗？|我可以帮您什么忙吗？", "我可以帮你。"),
    ("I ❤️ you", "我❤️你|我爱你|我❤你。", "我很快就是个你。|你爱我"),
    ("晚安🌙", "Good night🌙|Good night! 🌙", "Good night.|Ann was kidnight.🌙|Good night 🙌"),
    ("加油！💪", "Come on! 💪|Go for it!💪|Keep it up! 💪", "Refuel 💪|Sit on!💪"),
    (
        "人工智能（AI）很有用。",
        "Artificial intelligence (AI) is very useful.",
        "AI is useful.|Workers are good (AI).",
    ),
    (
        "Visit https://www.example.com for details.",
        "详情请访问https://www.example.com。|请访问 https://www.example.com 了解详情。|"
        "有关详细信息，请访问https://www.example.com。",
        "请访问https://www.example.con。|详情请访问。",
    ),
    (
        "My email is anna@example.org.",
        "我的邮箱是anna@example.org。|我的电子邮件地址是 anna@example.org",
        "我的邮箱是ana@example.org。|我的电子邮件是安全的。",
    ),
    (
        "我用Python写程序。",
        "I write programs in Python.|I use Python to write programs.|I program with Python.|"
        "I write a program with Python.",
        "I write programs.|I like Python.",
    ),
    ("我們明天見。", "See you tomorrow.|We'll meet tomorrow.|I'll see you tomorrow.", "We'll see."),
    ("Test", "测试|考试。|测验", "请问好。|试试看吧你"),
    ("Translation", "翻译|译文", "翻译得很好的人"),
    ("人工智能", "artificial intelligence|AI", "The workers are wise."),
]


def test_two_hundred_sentences_of_both_directions() -> None:
    gate = [*GATE.values()]
    assert len(gate) == 200
    directions = Counter(one.direction for one in gate)
    assert min(directions["en-zh"], directions["zh-en"]) >= 90
    assert len({one.kind for one in gate}) == 16


def test_good_translations_pass_and_wrong_ones_do_not() -> None:
    for text, good, bad in SAMPLE:
        assert [one for one in good.split("|") if not GATE[text].passes(one)] == []
        assert [one for one in bad.split("|") if GATE[text].passes(one)] == []


def test_untranslated_text_does_not_pass() -> None:
    for text, gated in GATE.items():
        assert [example for example in ("", "我", "It is.") if gated.passes(example)] == [], text
        if gated.kind not in ("number", "emoji"):
            assert not gated.passes(text), "what was typed is not its own translation"


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        ("en", "I'm sure it's 3.14, isn't it?", "i am sure it is 3.14 is not it"),
        ("en", "See www.example.com. It’s at 10 a.m.", "see www.example.com it is at 10 a.m"),
        ("en", "Tom's dog can't.", "tom's dog can not"),
        ("zh", "您在 哪儿？", "你在哪里"),
        ("zh", "哪个？（这 个）。", "哪个(这个)"),
        ("zh", "謝謝！ ❤️", "谢谢❤"),
    ],
)
def test_marks_capitals_and_contractions_do_not_count(
    language: str, text: str, wanted: str
) -> None:
    assert plain(text, language) == wanted


def test_shares_and_failures() -> None:
    passages = [
        Passage(Gated("name", "a", "b", "en-zh"), "b", True),
        Passage(Gated("name", "c", "d", "en-zh"), "e", False),
        Passage(Gated("word", "猫", "cat", "zh-en"), "cat", True),
    ]
    assert table(passages).splitlines()[2:] == [
        "| name | 50% (1/2) |  | 50% (1/2) |",
        "| word |  | 100% (1/1) | 100% (1/1) |",
        "| all | 50% (1/2) | 100% (1/1) | 67% (2/3) |",
    ]
    assert failures(passages) == "name: c -> e"


def test_the_command_prints_both(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = tmp_path / "gate.tsv"
    gate.write_text("greeting\tA dog\t.*\ngreeting\t狗坐着。\tno such thing\n", "utf-8")
    main(["measure", "gate", str(bundle), "--gate", str(gate)])
    said = capsys.readouterr().out
    assert "| greeting | 100% (1/1) | 0% (0/1) | 50% (1/2) |" in said
    assert "greeting: 狗坐着。 -> " in said


def test_a_pattern_that_is_none_is_refused(tmp_path: Path) -> None:
    gate = tmp_path / "gate.tsv"
    gate.write_text("word\tA\ta\nword\tB\t(b\n", "utf-8")
    with pytest.raises(ValueError, match=r"line 2: .*: [(]b"):
        read_gate(gate)
