"""Records for the six templates, as their files have them; texts in several scripts, long and short."""

from typing import Any

LOREM = (
    "The river rises after two days of rain. Pumps at the east gate move forty cubic metres a second, and the gate "
    "closes at a level of 2.1 metres. Residents of the lower streets leave by the north road. "
)
LONG = "\n\n".join(f"{number}. {LOREM * 6}" for number in range(1, 16))  # about 3,000 words
ARABIC = "متى تُغلق البوابة الشرقية؟ تُغلق عندما يصل المنسوب إلى 2.1 متر."
UNBROKEN = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk"
EMOJI = "Flood 🌊👩🏽‍🚒 warning: leave now. The gate is open."
PASSAGES = [
    {"text": LOREM * 2, "title": f"Handbook {number}", "page": number} for number in range(1, 11)
]
CONTEXTS = [LOREM, "The levee was rebuilt in 2014. It is 6.2 metres high."]
PROFILE = {
    "role": "emergency manager",
    "hazard": "flood",
    "location": "Baton Rouge, Louisiana",
    "timeline": "2027",
}

RECORDS: dict[str, list[dict[str, Any]]] = {
    "score": [
        {
            "question": "When does the east gate close?",
            "answer": LOREM,
            "contexts": CONTEXTS,
            "profile": PROFILE,
        },
        {
            "question": ARABIC,
            "answer": f"{LONG}\n{UNBROKEN}",
            "contexts": [one["text"] for one in PASSAGES],
        }
        | {"profile": PROFILE},
    ],
    "comprehensiveness": [
        {
            "item": f"i{number}",
            "method": f"Method {number}",
            "question": "How high is the levee?",
            "answer": "6.2 metres.",
            "contexts": CONTEXTS,
            "covered": ["The levee is 6.2 metres high."],
            "uncovered": ["The levee was rebuilt in 2014.", "It was rebuilt in 2014."],
        }
        for number in (1, 2)
    ],
    "climaqa": [
        {
            "form": "mcq",
            "level": "base",
            "question": "Which gas has the largest forcing?",
            "options": {"a": "CO2", "b": "CH4", "c": "N2O"},
            "answer": "a",
            "contexts": CONTEXTS,
        },
        {
            "form": "cloze",
            "level": "base",
            "statement": "Aerosols (such as sulfate) scatter sunlight, and cool the surface.",
            "contexts": CONTEXTS,
        },
    ],
    "calf": [
        {
            "question": "Why did the levee fail?",
            "reference": "The levee failed because water overtopped it. The soil beneath was weak.",
            "a": LOREM,
            "b": EMOJI,
            "a_system": "hidden-one",
            "b_system": "hidden-two",
            "subject": "geography",
            "expanded_reference": "Water overtopped the levee, which then failed, since its soil was weak.",
        }
    ],
    "pairs": [
        {
            "question": ARABIC,
            "a": EMOJI,
            "b": f"{LOREM}{UNBROKEN}",
            "a_system": "hidden-one",
            "b_system": "hidden-two",
        },
        {
            "question": "When does it close?",
            "a": "At noon.",
            "b": "At 2.1 m.",
            "a_system": "hidden-one",
        }
        | {"b_system": "hidden-two"},
    ],
    "rating": [{"question": "When does it close?", "answer": LOREM, "contexts": CONTEXTS}],
    "nuggets": [
        {
            "question": "When does it close?",
            "answer": LOREM,
            "contexts": CONTEXTS,
            "nuggets": [
                {"text": "The gate closes before the tide.", "importance": "vital"},
                {"text": f"Nobody says who closes it. {UNBROKEN}", "importance": "okay"},
                {"text": ARABIC, "importance": "okay"},
            ],
        },
        {"question": ARABIC, "answer": EMOJI},
    ],
    "support": [
        {
            "question": "When does it close?",
            "answer": "The gate closes before the tide [1]. Nobody says who closes it.",
            "contexts": CONTEXTS,
        },
        {
            "question": ARABIC,
            "answer": f"{UNBROKEN} is where it stands [2].",
            "contexts": [one["text"] for one in PASSAGES],
        },
    ],
}
