"""Train the small model that golden links and traces are made with.

    python -m tests.golden.train_bundle FOLDER

The shipped model will be replaced by better ones; the files that show whether the code still does
what it did must not change with it. This model has what links name of the shipped one (layers,
heads, units of a feed-forward layer) at a twentieth of the size. It translates a few hundred
sentences about animals, which it learns in half a minute of processor time.
`tests/golden/bundle` has the result of the first run, which nothing has to run again.
"""

import sys
from pathlib import Path

from model.bundle.weights import write_sums
from model.measure.attention_history import EXAMPLES, write_history
from model.measure.heads import write_means, write_report
from model.train.plan import TrainingData, TrainingOptions, TrainingPlan
from model.train.run import BUNDLE, train
from model.transformer.config import ModelConfig

ANIMALS = {"cat": "猫", "dog": "狗", "bird": "鸟", "horse": "马", "mouse": "老鼠", "duck": "鸭子"}
VERBS = {
    ("sit", "sat", "sitting"): "坐",
    ("sleep", "slept", "sleeping"): "睡",
    ("run", "ran", "running"): "跑",
    ("sing", "sang", "singing"): "唱",
    ("eat", "ate", "eating"): "吃",
}
THINGS = {"mat": "垫子", "table": "桌子", "chair": "椅子"}
STATES = {"tired": "累", "happy": "高兴", "cold": "冷", "hungry": "饿", "busy": "忙"}
PEOPLE = {"father": "父亲", "mother": "母亲", "brother": "哥哥", "sister": "妹妹"}
JOBS = {"teacher": "老师", "doctor": "医生", "cook": "厨师", "driver": "司机"}
SENTENCES = {
    "I see.": "我明白。",
    "Yes.": "是。",
    "No.": "不。",
    "Cats & dogs, 100% #1 = a+b? 🐱": "猫和狗，100% #1 = a+b？ 🐱",
}
SHAPE = ModelConfig(
    vocabulary=480,
    d_model=64,
    heads=8,
    d_ff=256,
    encoder_layers=3,
    decoder_layers=3,
    max_tokens=128,
)
STEPS = 600
OPTIONS = TrainingOptions(
    batch=400,
    steps=STEPS,
    cooldown=200,
    every=100,
    patience=STEPS,
    epochs=STEPS,
    average=1,
    learning_rate=0.2,
    warmup=100,
    adam_beta2=0.999,
    guide=0.5,
    precision="float32",
)
WATCHED = ("The cat did not sleep.", "我很累。")


def pairs() -> list[tuple[str, str]]:
    """Return the sentences, English and Chinese."""
    found = list(SENTENCES.items())
    for animal, it in ANIMALS.items():
        for (base, past, ing), does in VERBS.items():
            found += [
                (f"The {animal} {past}.", f"{it}{does}了。"),
                (f"The {animal} is {ing}.", f"{it}{does}着。"),
                (f"The {animal} did not {base}.", f"{it}没{does}。"),
            ]
        for thing, place in THINGS.items():
            found.append((f"The {animal} sat on the {thing}.", f"{it}坐在{place}上。"))
        for state, feels in STATES.items():
            found += [
                (f"The {animal} is {state}.", f"{it}很{feels}。"),
                (f"I am {state}.", f"我很{feels}。"),
                (f"My {animal} is {state}.", f"我的{it}很{feels}。"),
            ]
    for person, who in PEOPLE.items():
        for job, does in JOBS.items():
            found.append((f"My {person} is a {job}.", f"我{who}是{does}。"))
    return list(dict.fromkeys(found))


def train_bundle(folder: Path) -> Path:
    """Train the model and measure what pages show of it; return its bundle."""
    folder.mkdir(parents=True, exist_ok=True)
    every = [f"{english}\t{chinese}\n" for english, chinese in pairs()]
    text, dev = folder / "train.tsv", folder / "dev.tsv"
    text.write_text("".join(every), encoding="utf-8")
    dev.write_text("".join(every[::10]), encoding="utf-8")
    data = TrainingData((text,), (dev,), raw=True, augment=0.0)
    plan = TrainingPlan(folder, data, OPTIONS, SHAPE, "cpu", "Animals, English ↔ Chinese")
    for event in train(plan):
        print(event, file=sys.stderr, flush=True)
    bundle = folder / BUNDLE
    write_sums(bundle)
    (bundle / EXAMPLES).write_text("\n".join(WATCHED) + "\n", encoding="utf-8")
    snapshots = sorted((folder / "snapshots").iterdir(), key=lambda path: int(path.stem))
    earlier = [path for path in snapshots if int(path.stem) < STEPS]
    write_history(bundle, earlier, STEPS, dev, len(every), extend=False)
    write_means(bundle, [text], len(every))
    write_report(bundle, dev, None, len(every))
    return bundle


if __name__ == "__main__":
    print(train_bundle(Path(sys.argv[1])))
