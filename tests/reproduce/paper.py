"""The paper's text as plain words, and the sentences that the claims quote.

`paper_sentences.json` holds the sentences of the paper that the claims quote, whole, with their
place. It is part of the repository, because the paper is not. With the paper at hand,

    python -m tests.reproduce.paper

writes it again. The paper is the file that FSDASH_PAPER names, or ../shared/paper.tex.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAPER = Path(os.environ.get("FSDASH_PAPER") or ROOT.parent / "shared" / "paper.tex")
SENTENCES = Path(__file__).with_name("paper_sentences.json")
OMISSION = "…"
BREAK = " ¶ "
"""Stands for the beginning and the end of a list and of its items."""
SENTENCE = re.compile(r"[^¶]+?(?:[.](?= [A-Z¶]|$)|(?=¶)|$)")
WORDS = {"``": "“", "''": "”", "\\%": "%", "~": " ", "\\looseness-1": " ", "$": "", "\\ ": " "}


def plain(latex: str) -> str:
    """The words of a piece of LaTeX: no comments, commands, mathematics signs or line breaks."""
    text = re.sub(r"(?<!\\)%.*", "", latex)
    for written, read in WORDS.items():
        text = text.replace(written, read)
    text = re.sub(r"\\[()]", "", text)
    text = re.sub(r"\\(?:begin|end)\{\w+\}|\\item\b", BREAK, text)
    text = re.sub(r"\\(?:emph|textbf|textnormal|texttt)\{([^{}]*)\}", r"\1", text)
    return re.sub(r"\s+", " ", text).replace(" ,", ",").strip()


def places(latex: str) -> dict[str, str]:
    """The plain text of every section, subsection and caption by its name."""
    parts = re.split(r"\\(?:sub)*section\*?\{((?:[^{}]|\{[^{}]*\})*)\}", latex)
    found: dict[str, str] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        name = f'Section "{plain(name)}"'
        found[name] = f"{found.get(name, '')} {plain(body)}"  # the appendix repeats some titles
    for match in re.finditer(r"\\caption\{((?:[^{}]|\{[^{}]*\})*)\}", latex):
        text = plain(match[1])
        found[f'Caption of "{text}"'] = text
    return found


def text_at(where: str, found: dict[str, str]) -> str:
    """The text of a place; the name of a caption may end with an omission."""
    start = where.removesuffix('"').removesuffix(OMISSION).rstrip()
    if where in found:
        return found[where]
    [text] = [text for name, text in found.items() if OMISSION in where and name.startswith(start)]
    return text


def fragments(quotation: str) -> list[str]:
    """The pieces of a quotation between its omissions."""
    return [piece.strip() for piece in quotation.split(OMISSION) if piece.strip()]


def contains(text: str, quotation: str) -> bool:
    """Whether the pieces of a quotation occur in a text as whole words, in this order."""
    end = 0
    for piece in fragments(quotation):
        match = re.compile(rf"(?<!\w){re.escape(piece)}(?!\w)").search(text, end)
        if match is None:
            return False
        end = match.end()
    return True


def quoted_sentences(text: str, quotation: str) -> str:
    """The whole sentences of a text that a quotation takes its pieces from."""
    spans = [match.span() for match in SENTENCE.finditer(text)]
    kept, end = [], 0
    for piece in fragments(quotation):
        start = text.index(piece, end)
        end = start + len(piece)
        kept += [text[a:b].strip() for a, b in spans if a < end and b > start]
    return " ".join(dict.fromkeys(kept))


def main() -> None:
    """Write the sentences that the claims quote."""
    from fsdash.reproduce.claims import BEYOND, numerical_claims, theory_claims

    found = places(PAPER.read_text("utf-8"))
    kept = {
        claim.name: {
            "where": claim.where,
            "text": quoted_sentences(text_at(claim.where, found), claim.quotation),
        }
        for claim in (*theory_claims(), *numerical_claims())
        if claim.where != BEYOND
    }
    SENTENCES.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
