"""A Dask client without a cluster: every task ends at once."""

import asyncio
import threading
from types import SimpleNamespace

from manyarms.core import Outcome


class FakeClient:
    """Answers like a `distributed.Client` of a cluster with this number of workers, each with one thread."""

    status, asynchronous = "running", False

    def __init__(self, workers):
        self._addresses = [f"tcp://10.0.0.1:{number}" for number in range(workers)]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.loop = SimpleNamespace(asyncio_loop=self._loop)
        self.released = 0
        self.scheduler, self.security = SimpleNamespace(address="tcp://10.0.0.1:8786"), None

    def nthreads(self):
        return dict.fromkeys(self._addresses, 1)

    def run(self, function, *arguments, workers, on_error):
        greeting = {"threads": 1, "resources": {}, "refusal": None, "differences": []}
        return {address: {"host": address, **greeting} for address in workers}

    def submit(self, function, search, host, task, **settings):
        return SimpleNamespace(task=task, release=self._note_release, client=self)

    async def gather(self, future, asynchronous):
        return Outcome(future.task.pull, reward=1.0)

    def register_plugin(self, plugin, name):
        pass

    def unregister_worker_plugin(self, name):
        pass

    def cancel(self, futures, force):
        pass

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _note_release(self):
        self.released += 1
