"""Browsers learn about changes from one poller, however many they are."""

from __future__ import annotations

import asyncio
import json

import httpx
from dashboards import make_study, open_study, pull_once, server_of
from waiting import PATIENCE

from manyarms.dashboard.watch import Watch


async def messages(watch, number):
    """The first messages of a stream."""
    found = []
    async for text in watch.listen():
        if text.startswith("data: "):
            found.append(json.loads(text.removeprefix("data: ")))
        if len(found) == number:
            return found


def test_all_browsers_get_each_change_from_one_poller():
    polls = []

    def poll():
        polls.append(1)
        return {"events": len(polls) // 3}

    async def both():
        watch = Watch(poll, pause=0)
        return await asyncio.wait_for(asyncio.gather(messages(watch, 3), messages(watch, 3)), PATIENCE)

    one, two = asyncio.run(both())
    assert one == two == [{"events": 0}, {"events": 1}, {"events": 2}]
    assert len(polls) <= 12


def test_polling_ends_with_the_last_browser_and_starts_again():
    async def twice():
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        watch = Watch(lambda: {"events": 1}, lambda: loop.call_soon_threadsafe(ended.set), pause=0)
        streams = [watch.listen() for _ in range(2)]
        for stream in streams:
            await anext(stream), await anext(stream)
        assert watch.listeners == 2 and watch._task is not None
        for stream in streams:
            await stream.aclose()
        assert watch.listeners == 0 and watch._task is None
        await asyncio.wait_for(ended.wait(), PATIENCE)
        assert await asyncio.wait_for(messages(watch, 1), PATIENCE) == [{"events": 1}]

    asyncio.run(twice())


def test_closing_ends_all_streams():
    async def close():
        watch = Watch(lambda: {"events": 1}, pause=0)
        task = asyncio.create_task(messages(watch, 2))
        while watch.listeners == 0:
            await asyncio.sleep(0)
        watch.close()
        return await asyncio.wait_for(task, PATIENCE)

    assert asyncio.run(close()) is None


def stream_of(address):
    """The messages of a server, one by one."""
    with httpx.stream("GET", address, timeout=PATIENCE) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


def test_a_stream_says_when_a_study_has_new_events(storage):
    with open_study(storage) as study, server_of(storage) as address:
        pull_once(study)
        stream = stream_of(f"{address}/api/study/1/changes")
        assert next(stream)["events"] == 2
        pull_once(study)
        while (message := next(stream))["events"] < 4:
            pass
        assert message["state"] == "running" and message["length"] == 4
        stream.close()


def test_a_stream_of_the_list_says_when_there_is_a_new_study(storage):
    make_study(storage, "first", budget=8)
    with server_of(storage) as address:
        stream = stream_of(f"{address}/api/changes")
        first = next(stream)
        make_study(storage, "second", budget=8)
        assert next(stream)["version"] != first["version"]
        stream.close()
