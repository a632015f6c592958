"""What is too large is refused within 50 ms of processor time, with a message."""

import pytest

from tools.rejections import LIMIT, cases, refusal


@pytest.mark.slow
def test_everything_too_large_is_refused_at_once(tmp_path):
    found = {name: refusal(case) for name, case in cases(tmp_path).items()}
    assert [name for name, (_, message) in found.items() if not message] == []
    assert {name: taken for name, (taken, _) in found.items() if taken > LIMIT} == {}
