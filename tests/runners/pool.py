"""A pool of worker processes that do what each pull's config, a function of the pull, tells them."""

from __future__ import annotations

from contextlib import contextmanager

import psutil

from manyarms import ProcessRunner
from manyarms.testing.runners import make_task


def obey(pull):
    return pull.config(pull)


class Pool:
    """Runs functions in a started runner, each as the first pull of an arm."""

    def __init__(self, runner, directory):
        self.runner, self.directory = runner, directory

    def run(self, *functions, **options):
        """The outcomes in the order of the functions, of which at most as many as workers can be given."""
        for arm, function in enumerate(functions):
            self.runner.submit(make_task(self.directory, arm, function, **options))
        outcomes = []
        while len(outcomes) < len(functions):
            outcomes += self.runner.collect()
        return sorted(outcomes, key=lambda outcome: outcome.pull.arm.id)


@contextmanager
def started(directory, workers=1, function=obey, **options):
    runner = ProcessRunner(workers, **options)
    runner.start(function)
    try:
        yield Pool(runner, directory)
    finally:
        runner.close()


def is_running(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
