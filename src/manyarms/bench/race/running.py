"""Runs heats in parallel and keeps their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .heats import Heat, Waiting
from .results import Results
from .workers import Finished, Function, Workers

_LONG = 3600.0  # seconds to wait where nothing is to be written


def run_heats(heats: Sequence[Heat], results: Results, function: Function, workers: int) -> Iterator[Finished]:
    """What came of each heat as it ends; rows are in the file within about a second, whatever ends the race.

    Args:
        heats: to run.
        results: where their rows go.
        function: gives the rows of a heat.
        workers: how many at once.
    """
    waiting = Waiting(heats)
    with Workers(function, workers) as crew:
        while waiting or crew.running:
            while waiting and crew.has_room:
                crew.start(waiting.pop())
            ended = crew.collect(results.due() if results.unsaved else _LONG)
            for finished in ended:
                waiting.took(finished.heat, finished.seconds)
                results.add(finished.rows)
            results.save(only_if_due=True)
            yield from ended
