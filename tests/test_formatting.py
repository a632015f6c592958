import json
import math
import re
import tracemalloc

import pandas as pd
import pytest

from fsdash.errors import InputError
from fsdash.formatting import (
    as_json,
    as_table,
    compact_ranges,
    duration,
    escape_markdown,
    factor,
    file_size,
    format_records,
    frame_csv,
    log_ticks,
    number,
    number_tex,
    round_significant,
    setting,
    shorten,
    time_ago,
    whole_range,
)

DAY = 86400


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.1919, "0.192"),
        (0.25, "0.25"),
        (261.2, "261"),
        (999.9999, "1,000"),
        (-999.9999, "-1,000"),
        (12345.6, "12,346"),
        (3.2e-7, "3.2e-7"),
        (1e9, "1e9"),
        (1.14e10, "1.14e10"),
        (9.999e6, "1e7"),
        (float("inf"), "∞"),
        (float("-inf"), "-∞"),
    ],
)
def test_numbers_have_three_significant_digits(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "tex"),
    [
        (0, "0"),
        (0.19194, "0.192"),
        (12345.6, r"12\,346"),
        (1e9, r"1\cdot 10^{9}"),
        (3.2e-7, r"3.2\cdot 10^{-7}"),
        (float("inf"), r"\infty"),
    ],
)
def test_numbers_in_latex(value, tex):
    assert number_tex(value) == tex


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.95, "0.95"),
        (0.9996, "0.9996"),
        (0.999996, "0.999996"),
        (1.0, "1"),
        (1.00065, "1.001"),
        (12345.6, "12,346"),
    ],
)
def test_a_factor_has_enough_digits_to_compare_it_with_1(value, text):
    assert factor(value) == text


def test_settings_are_exact():
    assert [setting(v) for v in (1_234_567, 0.1, False, "auto")] == [
        "1,234,567",
        "0.1",
        "False",
        "auto",
    ]


def test_rounding_to_significant_digits():
    assert round_significant(123456, 2) == 120000
    assert round_significant(0.0004567, 1) == 0.0005
    assert round_significant(0.0, 3) == 0


def test_long_texts_are_shortened():
    assert shorten("x" * 40) == "x" * 40
    assert shorten("x" * 41) == "x" * 39 + "…"
    assert shorten("abcdef", 4) == "abc…"


def test_file_sizes():
    assert [file_size(n) for n in (0, 99_000, 100_000, 2_500_000_000)] == [
        "0 kB",
        "99 kB",
        "0.1 MB",
        "2,500.0 MB",
    ]


def test_durations_choose_their_unit():
    seconds = (0.2, 1, 89, 90, 5400, 71 * 3600, 3 * DAY, 900 * DAY, 3650 * DAY)
    assert [duration(s) for s in seconds] == [
        "under 1 s",
        "1 s",
        "89 s",
        "2 min",
        "1.5 h",
        "71 h",
        "3 days",
        "900 days",
        "10 years",
    ]


def test_times_in_the_past():
    now = 1e9
    assert time_ago(now + 5, now) == "a moment ago"
    assert time_ago(now - 120, now) == "2 minutes ago"
    assert time_ago(now - 7200, now) == "2 hours ago"
    assert time_ago(now - 2 * DAY, now) == "2 days ago"


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.9, 11, ["1", "2", "5", "10"]),
        (1, 100, ["1", "2", "5", "10", "20", "50", "100"]),
        (1e-3, 1e3, ["0.001", "0.01", "0.1", "1", "10", "100", "1,000"]),
        (1, 1e16, ["1", "100", "10,000", "1e6", "1e8", "1e10", "1e12", "1e14", "1e16"]),
    ],
)
def test_ticks_of_a_logarithmic_axis(low, high, labels):
    ticks = log_ticks(low, high)
    assert ticks["ticktext"] == labels and len(ticks["tickvals"]) == len(labels)


def test_ticks_of_an_axis_in_another_unit():
    ticks = log_ticks(1, 10, unit=50.0)
    assert ticks["ticktext"] == ["1", "2", "5", "10"]
    assert ticks["tickvals"] == [50, 100, 250, 500]


@pytest.mark.parametrize("text", ["http://x.y", "HTTPS://x.y", "www.x.y", "a@b.c"])
def test_addresses_in_names_do_not_become_links(text):
    """The browser's Markdown looks for these patterns after it has removed the backslashes."""
    shown = escape_markdown(text).replace("\\", "")
    assert not re.search(r"https?://|www\.|\w@\w", shown, re.IGNORECASE)
    assert shown.replace("\u2060", "") == text


def test_whole_ranges_are_read():
    assert whole_range("6") == (6,)
    assert whole_range("1:4") == (1, 2, 3, 4)
    assert whole_range("3,6,12") == (3, 6, 12)
    assert whole_range("1:3,8") == (1, 2, 3, 8)


@pytest.mark.parametrize(
    "text", ["", "x", "1:2:3", "1:", "3:1", "1:2000000", "1.5", "1:600000,1:600000"]
)
def test_unreadable_whole_ranges_are_refused(text):
    with pytest.raises(InputError):
        whole_range(text)


def test_a_range_is_counted_before_it_is_listed():
    """The text of a link: 400 million numbers would take 16 GB."""
    texts = ["1:1000000," * 400 + "1", "1," * 2_000_000 + "1", f"1:{'9' * 4000}"]
    tracemalloc.start()
    for text in texts:
        with pytest.raises(InputError, match=r"…' lists more than 1,000,000 values; list fewer"):
            whole_range(text)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()
    with pytest.raises(InputError, match="'1:30' lists more than 24 values"):
        whole_range("1:30", 24)
    assert whole_range("1:24", 24) == tuple(range(1, 25))


def test_consecutive_numbers_are_joined():
    assert compact_ranges([5, 0, 2, 1]) == "0–2, 5"
    assert compact_ranges([]) == ""


def test_records_in_every_format():
    records = [{"name": "a", "value": 1234}, {"name": "bcd", "value": 0.5}]
    assert format_records(records, "table") == "name  value\na     1,234\nbcd     0.5"
    assert format_records(records, "csv") == "name,value\na,1234\nbcd,0.5"
    assert json.loads(format_records(records, "json")) == records
    assert json.loads(format_records(records, "json", {"all": 1})) == {"all": 1}
    assert as_table(records[:1]) == "name   a\nvalue  1,234"


def test_infinity_is_valid_json():
    assert json.loads(as_json({"x": float("inf")})) == {"x": float("inf")}
    assert "Infinity" not in as_json(float("inf"))


def test_no_text_of_an_exported_table_is_a_formula():
    frame = pd.DataFrame({"@state": ["=1+1", "on", None], "gain": [-1.5, math.inf, math.nan]})
    assert frame_csv(frame).splitlines() == ["'@state,gain", "'=1+1,-1.5", "on,inf", ","]
    assert frame["@state"].tolist()[0] == "=1+1"  # the table itself does not change
