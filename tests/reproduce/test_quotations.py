"""Every claim quotes the paper word for word, and says where."""

import json
from dataclasses import replace

import pytest

from fsdash.reproduce.claims import BEYOND, numerical_claims, theory_claims
from tests.reproduce.paper import (
    OMISSION,
    PAPER,
    SENTENCES,
    contains,
    fragments,
    places,
    plain,
    quoted_sentences,
    text_at,
)

CLAIMS = [c for c in (*theory_claims(), *numerical_claims()) if c.where != BEYOND]
STORED = json.loads(SENTENCES.read_text("utf-8"))
claims = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
with_paper = pytest.mark.skipif(not PAPER.exists(), reason=f"the paper is not at {PAPER}")


def is_quoted(claim, sentences):
    """Whether a claim's quotation is taken from the stored sentences of its place."""
    stored = sentences.get(claim.name, {"where": "", "text": ""})
    return claim.where == stored["where"] and contains(stored["text"], claim.quotation)


@claims
def test_a_quotation_occurs_in_the_stored_sentences_of_the_paper(claim):
    assert fragments(claim.quotation), "a claim of the paper needs a quotation"
    assert is_quoted(claim, STORED)


def test_findings_of_this_project_quote_nothing():
    own = [c for c in numerical_claims() if c.where == BEYOND]
    assert own and all(c.quotation == "" for c in own)


def test_only_sentences_that_are_quoted_are_stored():
    assert set(STORED) == {claim.name for claim in CLAIMS}


@pytest.mark.parametrize(
    "change",
    [
        {"quotation": "T = 6 offers the best performance"},  # a word is missing
        {"quotation": "considering both reward … T = 6 offers"},  # another order
        {"quotation": "the E-FSVI variant"},  # not a whole word of "variants"
        {"where": 'Section "Conclusion"'},
    ],
)
def test_a_changed_quotation_is_found(change):
    [claim] = [c for c in CLAIMS if c.name == "inventory-T6-best"]
    assert is_quoted(claim, STORED)
    assert not is_quoted(replace(claim, **change), STORED)


@with_paper
@claims
def test_a_quotation_occurs_in_the_paper_at_its_place(claim):
    found = text_at(claim.where, places(PAPER.read_text("utf-8")))
    assert contains(found, claim.quotation)


@with_paper
@claims
def test_the_stored_sentences_are_those_of_the_paper(claim):
    found = text_at(claim.where, places(PAPER.read_text("utf-8")))
    assert STORED[claim.name]["text"] == quoted_sentences(found, claim.quotation)


def test_omissions_are_marked():
    """A quotation that does not begin or end with its sentence says so by an omission."""
    for claim in CLAIMS:
        text = STORED[claim.name]["text"]
        first, last = fragments(claim.quotation)[0], fragments(claim.quotation)[-1]
        assert claim.quotation.startswith(OMISSION) != text.startswith(first), claim.name
        assert claim.quotation.endswith(OMISSION) != text.endswith(last), claim.name


def test_latex_is_read_as_plain_words():
    latex = r"""\section{A} % a comment
    Larger \( T = 12 \), such as $L_f < 1$, reach 75\% of \emph{some} ``optimum''.
    \subsection{Selecting $T$} One. Two with $T=6$. Three.
    \caption{A figure of \emph{two} curves. It has text.}"""
    found = places(latex)
    assert found['Section "A"'].strip() == (
        "Larger T = 12, such as L_f < 1, reach 75% of some “optimum”."
    )
    assert text_at('Caption of "A figure of …"', found).endswith("It has text.")
    text = found['Section "Selecting T"']
    assert quoted_sentences(text, "… with T=6.") == "Two with T=6."
    assert plain("a~b") == "a b"
