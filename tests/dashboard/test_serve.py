"""`make run`'s starter: what it says about hosts and ports."""

import socket

import pytest
from streamlit import net_util

from tools.serve import announcement, port_problem, reachable_addresses


def test_a_taken_port_is_named_with_the_remedy():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"PORT={port + 1}" in port_problem("127.0.0.1", port)


@pytest.mark.parametrize(("host", "port"), [("192.0.2.7", 8501), ("127.0.0.1", 99999)])
def test_an_unusable_host_or_port_is_named(host, port):
    assert str(port if port > 65535 else host) in port_problem(host, port)


def test_a_free_port_has_no_problem():
    assert port_problem("127.0.0.1", 0) is None


def test_everyone_on_the_network_gets_an_address_they_can_open():
    text = announcement("0.0.0.0", 9000, ["10.1.2.3"])
    assert "http://127.0.0.1:9000" in text and "http://10.1.2.3:9000" in text
    assert "0.0.0.0" not in text


def test_own_addresses_are_never_the_loopback():
    assert not any(address.startswith("127.") for address in reachable_addresses())


def test_streamlit_still_looks_up_its_public_address_where_we_turn_that_off():
    assert callable(net_util.get_external_ip)
