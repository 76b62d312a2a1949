"""Makes tests/goldens/minilm.json from sentence-transformers; run by hand, in an environment that has it:

    python tests/goldens/make_minilm.py MODEL_FOLDER

MODEL_FOLDER holds the official files of all-MiniLM-L6-v2 in sentence-transformers' layout. The sentences are made here:
statements, questions, other scripts, numbers, code, odd white space, the empty text, and texts beyond 256 tokens.
Vectors are float16 in base64 (little endian, row by row); cosines of neighbours (i, i + 1) are taken in full precision.
"""

from __future__ import annotations

import base64
import datetime
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path

SUBJECTS = [
    "A retaining wall",
    "The spring neap tide",
    "My neighbour's goat",
    "Early treatment of sepsis",
    "An appeal against the ruling",
    "The carbonate buffer of the ocean",
    "A suspended timber floor",
    "The second violin part",
    "Compound interest",
    "A drought that lasts three winters",
    "The maintenance schedule of the turbine",
    "Letter-sound knowledge at age five",
]
CLAIMS = [
    "{} is rarely the cause of the damage people first blame it for.",
    "Nobody who has measured it twice still believes that {} is simple.",
    "What is the difference between {} and what the textbook calls by the same name?",
    "According to the 2019 survey (n = 1,204), {} accounts for 37.5% of all cases; the rest is unclear.",
    "If {} had been considered before the budget was fixed, the costs would have fallen by a third, and the work, "
    "which took eleven months in the end, might have been finished before the autumn storms began.",
    "{}?",
    "not {}",
    "First, check the records. Second, ask who is responsible. Third, describe how {} was handled, when, and by whom.",
    "In 1887 {} was described by two people at once, neither of whom knew the other's language or method.",
    "{} increases with temperature, decreases with depth, and does neither at night.",
    "Why does everyone in the second district keep asking about {} after heavy rain?",
    "{}, {}, and once more {}: the minutes mention nothing else.",
    "The committee's answer was short: {} is outside its remit.",
]
ODD = [
    "",
    " ",
    "\n\t two\n\nlines \t and   wide   gaps \n",
    "Über die Wärmeleitfähigkeit feuchter Böden wird seit Jahren gestritten.",
    "La sécheresse a duré trois hivers ; personne ne s'y attendait.",
    "La sequía duró tres inviernos y nadie la esperaba.",
    "洪水の後、橋は二年間閉鎖された。",
    "洪水过后,这座桥关闭了两年。",
    "После наводнения мост был закрыт два года.",
    "بعد الفيضان أُغلق الجسر لمدة عامين.",
    "बाढ़ के बाद पुल दो साल तक बंद रहा।",
    "홍수 이후 다리는 2년 동안 폐쇄되었다.",
    "İstanbul'da Şubat ayı, ILIK geçti.",
    "🌊🌧️ flood warning 🚨 in effect until 18:00 🕕",
    "E = mc² and ∂u/∂t = κ∇²u, with κ ≈ 1.1×10⁻⁶ m²/s",
    "def area(r):\n    return 3.14159 * r ** 2  # circle",
    '{"verdict": "yes", "score": 0.75, "why": null}',
    "SELECT name, MAX(depth) FROM wells GROUP BY name HAVING COUNT(*) > 3;",
    "https://example.org/a/b?c=d&e=%20f#g",
    "3.14159 2.71828 1.41421 0.57721 1,000,000 -273.15 6.022e23",
    "[CLS] the markers [SEP] of the model itself [PAD] [MASK] [UNK]",
    "caf\u00e9 cafe\u0301 na\u00efve nai\u0308ve \ufb01rst \ufb02oor",
    "a\u200bb\u200cc\ufeffd zero\u00adwidth",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenhersteller" * 3,
    "SHOUTING IS NOT AN ARGUMENT!!! 'tis... it's; they're -- we’ve — “so” ‘be’ it",
]


def sentences() -> list[str]:
    """200 texts, always the same."""
    made = list(ODD)
    for claim in CLAIMS:
        for subject in SUBJECTS:
            inner = subject if claim.startswith("{}") else subject[0].lower() + subject[1:]
            made.append(claim.replace("{}", inner))
    long = [claim.replace("{}", SUBJECTS[n % len(SUBJECTS)]) for n, claim in enumerate(CLAIMS * 4)]
    for n in range(200 - len(made)):  # from about 60 to far beyond 256 tokens
        made.append(" ".join(long[n : n + 3 + 2 * n]))
    return made[:200]


def main() -> None:
    import sentence_transformers

    model = sentence_transformers.SentenceTransformer(sys.argv[1], device="cpu")
    texts = sentences()
    vectors = model.encode(texts, batch_size=1, normalize_embeddings=True, convert_to_numpy=True)
    cosines = [
        round(float(vectors[i] @ vectors[(i + 1) % len(texts)]), 6) for i in range(len(texts))
    ]
    golden = {
        "provenance": (
            f"sentence-transformers {version('sentence-transformers')}, transformers {version('transformers')}, torch "
            f"{version('torch')}, Python {platform.python_version()}, CPU, float32, one text a batch; "
            f"{datetime.date.today().isoformat()}; tests/goldens/make_minilm.py on the "
            "official files of all-MiniLM-L6-v2"
        ),
        "texts": texts,
        "token_counts": [
            len(model.tokenizer(text, truncation=False)["input_ids"]) for text in texts
        ],
        "neighbour_cosines": cosines,
        "float16": base64.b64encode(vectors.astype("<f2").tobytes()).decode(),
    }
    target = Path(__file__).with_name("minilm.json")
    target.write_text(json.dumps(golden, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{target}: {len(texts)} texts, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
