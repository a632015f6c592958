"""Names and values that links had in earlier versions, and what they are called now.

A saved link keeps working when a parameter is renamed: add the former name or value here.
`UrlState.read` translates a link before it reads it; pages know the present names only.
"""

from collections.abc import Mapping

NAMES = {
    "inspector": {"beside": "compare"},
    "runs": {"whose": "owner"},
}
"""By page: the present name of a parameter by its former name."""

IMPLIED = {
    "choose-t": {
        "by": (
            "theory",
            {"gamma", "alpha", "dY", "Lr", "Lf", "LU", "rmax", "nx", "ny", "na", "T", "LUby"}
            | {"over", "bound", "Lfrozen", "vary", "tab", "domain"},
        )
    },
}
"""By page: the value of a newer parameter that a link means if it has one of these parameters."""

VALUES = {
    "home": {
        "view": {
            "The policy": "policy",
            "The lower level": "lower",
            "The upper level": "upper",
        },
    },
    "choose-t": {
        "LUby": {"by hand": "custom", "L_r/(1 − γL_f)": "derived"},
        "over": {"the plotted T": "plotted", "every T up to 100": "every"},
        "bound": {"as stated": "stated"},
        "vary": {
            "L_f": "Lf",
            "γ": "gamma",
            "α": "alpha",
            "L_U": "LU",
            "L_r": "Lr",
            "d_Y": "dY",
            "r_max": "rmax",
        },
        "tab": {
            "What the bound is made of": "terms",
            "How sensitive the choice is": "sensitivity",
            "How far to trust it": "trust",
        },
        "domain": {"Inventory": "inventory", "Gridworld": "gridworld", "Pricing": "pricing"},
    },
    "lab": {"preset": {"by-hand": "custom"}},
    "runs": {"owner": {"everyone's": "everyone"}},
}
"""By page and by the present name of the parameter: the present value by the former value."""


def in_present_terms(page: str, found: Mapping[str, str]) -> dict[str, str]:
    """The query of a link with the names and values that the page uses now."""
    names, values = NAMES.get(page, {}), VALUES.get(page, {})
    renamed = {
        names.get(name, name): text
        for name, text in found.items()
        if names.get(name) not in found  # a link with both names means the present one
    }
    present = {name: values.get(name, {}).get(text, text) for name, text in renamed.items()}
    for name, (value, signs) in IMPLIED.get(page, {}).items():
        if name not in present and signs & present.keys():
            present[name] = value
    return present
