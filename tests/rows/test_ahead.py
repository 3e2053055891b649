"""Items that a thread makes ahead of the one who takes them."""

import threading

import pytest

from kernelpursuit.rows.ahead import read_ahead


def n_threads():
    return sum(one.name == "kernelpursuit-read-ahead" for one in threading.enumerate())


def test_items_come_in_their_order():
    assert list(read_ahead(iter(range(100)))) == list(range(100))
    assert list(read_ahead(iter([]))) == []
    assert list(read_ahead(iter([None, None]))) == [None, None]


def test_an_error_comes_where_its_item_would_have():
    def fails():
        yield 1
        raise ValueError("of the reader")

    found = read_ahead(fails())
    assert next(found) == 1
    with pytest.raises(ValueError, match="of the reader"):
        next(found)
    assert n_threads() == 0


def test_only_a_few_are_made_ahead_and_none_after_the_last_was_taken():
    made, closed = [], []

    def endless():
        try:
            while True:
                made.append(len(made))
                yield made[-1]
        finally:
            closed.append(True)

    found = read_ahead(endless(), n_waiting=2)
    assert [next(found) for _ in range(3)] == [0, 1, 2]
    found.close()
    assert len(made) <= 7
    assert closed == [True]
    assert n_threads() == 0
