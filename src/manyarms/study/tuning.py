"""The short form: one call that searches a space and returns the finished study."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .. import checks
from ..budget import Budget
from ..checkpoints import Checkpoints
from ..journal import Journal
from ..runners.execute import Function
from ..spaces import as_space
from ..strategies import DEFAULT_STRATEGY, Strategy, strategy_classes, strategy_factory
from .arguments import check_function, check_remaining, run_arguments
from .opening import check_arguments
from .study import Study

if TYPE_CHECKING:
    from .joining import Joining

_ELSEWHERE = {
    "n_trials": "use 'budget'",
    "n_iter": "use 'budget'",
    "n_jobs": "use 'workers'",
    "sampler": "use 'strategy'",
    "objective": "the first argument is the function",
    "func": "the first argument is the function",
    "study_name": "use 'name'",
    "load_if_exists": "it is not needed, because a stored study is always resumed",
}
"""What replaces arguments of other libraries."""

_JOINING = ("workers", "pull_timeout", "resources", "runner", "deterministic", "timeout")
"""The arguments of `Study.optimize` that mean something else for a process that joins a study."""


def tune(
    function: Function,
    space: Any,
    *,
    budget: int | str | Budget,
    max_steps: int | None = None,
    strategy: str | Callable[..., Strategy] | None = None,
    storage: str | os.PathLike[str] | Journal | None = None,
    name: str = "study",
    checkpoints: Checkpoints | str | None = None,
    direction: str = "maximize",
    bounds: tuple[float, float] | None = None,
    seed: int | None = None,
    join: bool | str = False,
    origin: Mapping[str, Any] | None = None,
    **options: Any,
) -> Study:
    """Search the space for the best model, and return the finished study. With a storage, a second call resumes the search.

    The returned study does not hold the lock of its storage. It can be continued by other processes, or by the same call with a
    larger budget, for example if a notebook cell is run again.

    Args:
        function: The training function `train(pull)`. It reads its parameters from the pull, as in `pull["lr"]` or `**pull`,
            and returns the reward: a number, or a dict with "reward". See `RunningPull`.
        space: A `Space`; a dict such as `{"rate": (0.0, 1.0), "width": [16, 32, 64]}`, see `manyarms.spaces.as_space`; or any
            object with `sample` and `mutate`.
        budget: Total over all runs: a number of steps, training time such as "8h", or a `Budget`.
        max_steps: Maximum number of steps per arm. With the default of 1, each pull is a complete training; with more, a pull
            is a slice of training, from `pull.start` to `pull.stop`.
        strategy: The name of a strategy, such as "asha" or "random"; or a class or function that is called with the space,
            budget, max_steps and seed, such as `ma.RandomSearch`. By default `AdaptiveMutantUCB`.
        storage, name, checkpoints, direction, bounds, origin: As for `Study`.
        seed: Random seed. The same seed gives the same search.
        join: Whether to share the search with other processes, on any machine, that run the same script with the same storage.
            The first one leads the search; the others work for it until it is done. If the leader ends, another process takes
            over. `workers` is then the number of pulls that this process runs at once. Instead of True, you can pass the
            address of this machine, if the others cannot reach it otherwise.
        options: Workers, timeout, retries and the other arguments of `Study.optimize`.

    >>> import manyarms as ma
    >>> space = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}
    >>> study = ma.tune(lambda pull: -(pull["x"] ** 2) - pull["y"] ** 2, space, budget=300, seed=0, progress=False)
    >>> study.best_reward > -0.05
    True
    """
    _check_names(options, strategy)
    arguments = inspect.signature(Study.optimize).bind(None, function, **options)  # checked before the study is created
    arguments.apply_defaults()
    given = {name: value for name, value in arguments.arguments.items() if name not in ("self", "budget")}
    together = _joining(join, storage, name, given)
    check_function(function, run_arguments(**given).runner)
    if isinstance(space, Mapping) and not space:
        raise ValueError(f"space must have at least one parameter, got {space!r}")
    limits = Budget.of(budget)
    check_remaining(options.get("pull_timeout"), options.get("timeout"), limits.seconds)
    make = strategy_factory(DEFAULT_STRATEGY if strategy is None else strategy)

    def new_strategy() -> Strategy:
        return make(as_space(space), budget=limits.steps, max_steps=1 if max_steps is None else max_steps, seed=seed)

    def check(header: Mapping[str, Any]) -> None:
        check_arguments(name, header, new_strategy(), direction, bounds)

    def open_study() -> Study:
        return Study(
            new_strategy(),
            storage=storage,
            name=name,
            checkpoints=checkpoints,
            direction=direction,
            bounds=bounds,
            budget=limits.beyond_steps(),
            origin=origin,
        )

    if together is not None:
        return together.run(open_study, check, function, {key: value for key, value in options.items() if key not in _JOINING})
    study = open_study()
    try:
        study.optimize(function, **options)
    except BaseException:
        study.close()  # the caller never gets it
        raise
    return study


def _check_names(options: Mapping[str, Any], strategy: str | Callable[..., Strategy] | None) -> None:
    """Raise an error for an option that neither `tune` nor `Study.optimize` has. It suggests what to write instead."""
    known = {*inspect.signature(tune).parameters, *inspect.signature(Study.optimize).parameters} - {"self", "options"}
    name = next((name for name in options if name not in known), None)
    if name is None:
        return
    make: Any = strategy_factory(DEFAULT_STRATEGY if strategy is None else strategy)
    if make in strategy_classes().values() and name in inspect.signature(make).parameters:
        written = f"ma.{make.__name__}(space, ..., {name}={options[name]!r})"
        raise TypeError(
            f"tune() got {name!r}, which is an option of the strategy: options need the long form, "
            f"ma.Study({written}, ...).optimize(function)"
        )
    close = checks.closest(name, known, 1)
    hint = _ELSEWHERE.get(name) or (f"did you mean {close[0]!r}?" if close else "its arguments are listed in help(ma.tune)")
    raise TypeError(f"tune() got an unexpected keyword argument {name!r}; {hint}")


def _joining(join: bool | str, storage: Any, name: str, given: Mapping[str, Any]) -> Joining | None:
    """How to join a study; None if `join` is False."""
    if join is False:
        return None
    from .joining import joining  # here: it imports SQLAlchemy, which a study in memory does not need

    verbose = given["verbose"] if given["progress"] else 0
    return joining(join, storage, name, verbose=verbose, **{key: given[key] for key in _JOINING})
