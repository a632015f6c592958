"""The paper's numerical section and theory figures, computed again and judged claim by claim.

    experiments   the paper's experiments as lists of runs
    judging       how a claim is judged
    claims        the claims of the numerical section, and two findings of our own
    theory        the theory's figures and claims
    pictures      figures as files
    report        a folder with data, figures and claims
    command       `fsdash reproduce`
    kept          the results of one full run, part of the project

`python -m fsdash.reproduce` computes the kept results again.
"""

from fsdash.errors import require

require("plotly", extra="dashboard")
