"""`BanditSearchCV`: a hyperparameter search with the interface of scikit-learn that trains candidates one slice at a time."""

from __future__ import annotations

import copy
import functools
import os
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import closing
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import _fit_context, is_classifier
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection import check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metadata_routing import MethodMapping
from sklearn.utils.validation import _check_method_params

from ...budget import Budget
from ...checkpoints import Checkpoints
from ...errors import NoResult
from ...html.notebook import html_or_nothing
from ...journal import Journal
from ...runners.pull_timeout import PullLimit
from ...study.arguments import check_remaining
from ...study.no_result import no_result
from ...study.study import Study
from ..training.candidate import FOLDS, Candidate, Metadata
from ..training.results import arm_params, arm_results, metrics_of, stored_view
from ..training.slices import Whole
from ..training.training import Training
from .delegation import DelegatedMethods, estimators_of
from .failures import FirstError, FitsFailed, give_error_score, warn_about_failures
from .origin import check_same_origin, origin_of
from .parameters import SearchSpace, search_space
from .search_html import search_html
from .strategy import default_budget, search_strategy

_SHARED = (
    "scoring",
    "n_jobs",
    "refit",
    "cv",
    "verbose",
    "error_score",
    "return_train_score",
)  # shared with scikit-learn's searches


class BanditSearchCV(DelegatedMethods, BaseSearchCV):  # type: ignore[misc]
    """Tune an estimator by cross-validation: train many candidates a little, and continue the promising ones.

    A drop-in replacement for `RandomizedSearchCV`, with everything that scikit-learn's searches have. The differences:

    - One candidate is one arm. It is trained one slice at a time on every fold: a few more trees, epochs or rows. Where the
      estimator can continue from where it was, nothing is trained twice.
    - `cv_results_` has a row for each arm, with its scores at the step at which it was best, `steps`. `params` has the
      parameters at that step, such as `n_estimators=40`. Times are sums over all its slices.
    - The arm with the best score is chosen, regardless of how far it was trained: if more trees or epochs make a model worse,
      fewer are used. At a tie it is the arm with the most steps. `best_estimator_` gets as many steps. Where rows or folds
      grow, `best_estimator_` gets all rows, and is the best of the arms that had all of them, if there are any.

    Args:
        estimator: The estimator to tune; or a dict of names to (estimator, space), to choose among several.
        space: A `Space`; or a dict of lists and distributions, or a list of such dicts, as for `RandomizedSearchCV`.
        strategy: Name of a strategy, such as "asha"; or a class or function that is called with the space, budget,
            max_steps and seed, such as `ma.ASHA`. By default `AdaptiveMutantUCB`.
        resource: What grows from slice to slice. "auto" uses trees or epochs if the estimator can continue with them, else
            rows. Or "n_samples" (rows), "partial_fit" (epochs), or a parameter that counts rounds, such as "n_estimators"
            or "clf__max_iter". "folds" trains on one more fold. None trains each candidate in a single step.
        max_steps: Number of slices of a full training. With `resource="folds"`, it is the number of folds.
        budget: Total number of steps, or the total time of the pulls over all workers, such as "5m". By default 30 full
            trainings. The search ends earlier if all candidates of the space are trained.
        scoring, cv, refit, error_score, return_train_score: As for `RandomizedSearchCV`. With several metrics, `refit` names
            the one to optimize; by default the first.
        n_jobs: Number of worker processes; None means 1, -1 means one per core.
        random_state: Random seed. The same seed and number of workers give the same result. Models without a seed get one.
        storage: "sqlite:///file.db" or a path: `fit` then resumes the stored search. By default each `fit` starts from scratch.
        name: Name of the study in the storage.
        checkpoints: Where models in training are saved. By default next to the storage, or in a temporary directory.
        pull_timeout: Seconds after which a slice is stopped and fails; "remaining" stops it when the time budget ends.
        verbose: 0 for no output, 1 for the progress of the search, 2 or more for each slice, as in `Study.optimize`.

    Attributes:
        study_: The study, for reading: `study_.pulls_dataframe()`, `study_.arms_dataframe()`.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from scipy.stats import loguniform
    >>> search = BanditSearchCV(LogisticRegression(), {"C": loguniform(1e-3, 1e3)}, budget=20, random_state=0)
    >>> print(f"{search.fit(*load_iris(return_X_y=True)).best_score_:.2f}")
    0.97
    """

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        **{name: BaseSearchCV._parameter_constraints[name] for name in _SHARED},
        "estimator": [HasMethods(["fit"]), dict],
        "strategy": [callable, str, None],
        "resource": [str, None],
        "max_steps": [Interval(Integral, 1, None, closed="left")],
        "budget": [Interval(Integral, 1, None, closed="left"), str, Budget, None],
        "random_state": ["random_state"],
        "name": [str],
    }

    def __init__(
        self,
        estimator: Any,
        space: Any = None,
        *,
        strategy: str | Callable[..., Any] | None = None,
        resource: str | None = "auto",
        max_steps: int = 10,
        budget: int | str | Budget | None = None,
        scoring: Any = None,
        cv: Any = None,
        refit: bool | str | Callable[..., Any] = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        storage: str | os.PathLike[str] | Journal | None = None,
        name: str = "search",
        checkpoints: Checkpoints | str | None = None,
        pull_timeout: float | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.strategy = strategy
        self.resource = resource
        self.max_steps = max_steps
        self.budget = budget
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.storage = storage
        self.name = name
        self.checkpoints = checkpoints
        self.pull_timeout = pull_timeout
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, **params: Any) -> BanditSearchCV:
        """Search, then train the best candidate on all rows.

        Args:
            X, y: The data, as for the estimator; `y` may be None if the estimator needs none.
            params: Arguments of the estimator's `fit`, such as `sample_weight`, and `groups` for the splitter. With metadata
                routing, whatever the estimator, the scorer and the splitter request.
        """
        given = self._given()
        self._check_running()
        if y is None and get_tags(self).target_tags.required:
            raise ValueError("This BanditSearchCV estimator requires y to be passed, but the target y is None.")
        scorers, _ = self._get_scorers()
        X, y = indexable(X, y)
        routed = self._get_routed_params_for_fit(_check_method_params(X, params=params))
        folds = self._folds(X, y, routed.splitter.split)
        seed = None if self.random_state is None else _seed(self.random_state)
        candidates = {name: self._candidate(name, *part, routed) for name, part in given.items()}
        training = Training(
            candidates if isinstance(self.estimator, Mapping) else candidates[""],
            X,
            y,
            folds,
            scorers,
            metric=self.refit if isinstance(self.refit, str) else "score",
            metadata=Metadata(routed.estimator.fit, routed.scorer.score),
            seed=seed,
            train_scores=self.return_train_score,
        )
        with closing(self._study(training, {name: part[1] for name, part in given.items()}, seed)) as study:
            self._search(study, training)
            self._set_results(study, training, scorers)
        return self

    def _check_running(self) -> None:
        """Check the arguments for running before a study is stored."""
        effective_n_jobs(self.n_jobs)
        PullLimit.of(self.pull_timeout)
        check_remaining(self.pull_timeout, None, None if self.budget is None else Budget.of(self.budget).seconds)

    # -- search space

    def _given(self) -> dict[str, tuple[Any, SearchSpace]]:
        """The estimators and their search spaces by name; the name of a single estimator is empty."""
        if not isinstance(self.estimator, Mapping):
            return {"": (self.estimator, search_space(self.space))}
        if self.space is not None:
            raise ValueError(f"space must be None if estimator is a dict of (estimator, space), got {self.space!r}")
        if not self.estimator:
            raise ValueError("estimator must name at least one (estimator, space), got an empty dict")
        for name, part in self.estimator.items():
            if not isinstance(part, tuple) or len(part) != 2 or not hasattr(part[0], "fit"):
                raise TypeError(f"estimator[{name!r}] must be (estimator, space), got {part!r}")
        kinds = {name: get_tags(part[0]).estimator_type for name, part in self.estimator.items()}
        if len(set(kinds.values())) > 1:
            raise ValueError(f"estimator must not mix classifiers, regressors and others, got {kinds}")
        return {name: (part[0], search_space(part[1])) for name, part in self.estimator.items()}

    def _candidate(self, name: str, estimator: Any, found: SearchSpace, routed: Any) -> Candidate:
        """How an estimator is trained. Wrong names of parameters and resources raise an error here."""
        own = routed.get(_route(name))
        fit_params = None if own is None else own.fit
        steps = self.n_splits_ if self.resource == FOLDS else self.max_steps
        candidate = Candidate(estimator, self.resource, steps, found.params, fit_params)
        example = candidate.with_params(found.params(found.space.sample(np.random.default_rng(0))), None)
        at_once = isinstance(candidate.slices(example), Whole) and self.resource != FOLDS
        return Candidate(estimator, self.resource, 1, found.params, fit_params) if at_once else candidate

    def _folds(self, X: Any, y: Any, split_params: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        splitter = check_cv(self.cv, y, classifier=is_classifier(self._first()))
        self.n_splits_ = splitter.get_n_splits(X, y, **split_params)
        folds = list(splitter.split(X, y, **split_params))
        if len(folds) != self.n_splits_ or not folds:
            raise ValueError(f"cv must yield the number of splits that it states, got {len(folds)} instead of {self.n_splits_}")
        return folds

    # -- the search

    def _study(self, training: Training, found: Mapping[str, SearchSpace], seed: int | None) -> Study:
        candidates = training.candidates if isinstance(training.candidates, Mapping) else {"": training.candidates}
        limits = Budget.of(default_budget(candidates) if self.budget is None else self.budget)
        spaces = {name: part.space for name, part in found.items()}
        origin = None if self.storage is None else origin_of(training, self.scoring)
        study = Study(
            search_strategy(self.strategy, candidates, spaces, limits.steps, seed, isinstance(self.estimator, Mapping)),
            storage=self.storage,
            name=self.name,
            checkpoints=self.checkpoints,
            budget=limits.beyond_steps(),
            origin=origin,
        )
        try:
            check_same_origin(study, origin)
        except BaseException:
            study.close()
            raise
        return study

    def _search(self, study: Study, training: Training) -> None:
        first_error = FirstError(training) if self.error_score == "raise" else None
        workers = effective_n_jobs(self.n_jobs)
        try:
            study.optimize(
                training if first_error is None else first_error,
                workers=workers,
                pull_timeout=self.pull_timeout,
                deterministic=workers > 1 and self.random_state is not None,
                verbose=min(int(self.verbose), 2),
                callbacks=() if first_error is None else [first_error.stop_at_failure],
            )
        except NoResult:
            if first_error is not None:
                first_error.raise_it()
            raise FitsFailed(f'{no_result(study)}. Use error_score="raise" for the full traceback.') from None
        if first_error is not None:
            first_error.raise_it()
        if not study.counts.pulls:
            raise KeyboardInterrupt  # before there was any result
        warn_about_failures(study.counts, self.error_score)

    # -- results

    def _set_results(self, study: Study, training: Training, scorers: Any) -> None:
        """Set the fitted attributes."""
        records = study.counts.arms

        def is_final(arm: int, steps: int) -> bool:
            return is_final_early(arm) or training.is_final(records[arm].arm.config, steps)

        is_final_early = functools.cache(lambda arm: training.is_final(records[arm].arm.config, 0))
        arms = arm_results(study.journal.events(), is_final)
        several = isinstance(scorers, _MultimetricScorer)
        metrics = list(scorers._scorers) if several else metrics_of(arms)
        self.multimetric_ = several or metrics != ["score"]
        if self.multimetric_:
            self._check_refit_for_multimetric(metrics)
        params = [arm_params(training, records[result.arm].arm.config, result.stop) for result in arms]
        named = metrics if self.multimetric_ else None
        out = [fold for arm in arms for fold in arm.folds(self.n_splits_, named, self.return_train_score)]
        more = {"arm": [result.arm for result in arms], "steps": [result.steps for result in arms]}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "One or more of the", UserWarning)  # failed fits have been reported already
            results = self._format_results(params, self.n_splits_, out, more)
        if not isinstance(self.error_score, str):
            give_error_score(results, np.array([result.failed for result in arms]), self.error_score)
        if self.refit or not self.multimetric_:
            final = [is_final(result.arm, result.steps) for result in arms]
            self._choose(results, np.array(final))
        if self.refit:
            self._train_best(study, training, results)
        self.scorer_ = scorers._scorers if several else scorers
        self.cv_results_ = results
        self.study_ = stored_view(study)

    def _choose(self, results: dict[str, Any], final: Any) -> None:
        if callable(self.refit):
            self.best_index_ = self._select_best_index(self.refit, None, results)
        else:
            metric = self.refit if self.multimetric_ else "score"
            self.best_index_ = int(np.lexsort((-results["steps"], results[f"rank_test_{metric}"], ~final))[0])
            self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]
        self.best_params_ = results["params"][self.best_index_]

    def _train_best(self, study: Study, training: Training, results: dict[str, Any]) -> None:
        began = time.perf_counter()
        config = study.counts.arms[int(results["arm"][self.best_index_])].arm.config
        self.best_estimator_ = training.refit(config, int(results["steps"][self.best_index_]))
        self.refit_time_ = time.perf_counter() - began
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    # -- methods of scikit-learn's base class, for a dict of estimators

    def _first(self) -> Any:
        return next(iter(estimators_of(self).values()))

    def _with_first(self) -> BanditSearchCV:
        if not isinstance(self.estimator, Mapping) or not self.estimator:
            return self
        twin = copy.copy(self)
        twin.estimator = self._first()
        return twin

    def __sklearn_tags__(self) -> Any:
        twin = self._with_first()
        tags = super(BanditSearchCV, twin).__sklearn_tags__()
        tags.target_tags = copy.deepcopy(get_tags(twin.estimator).target_tags)
        tags.input_tags.sparse = all(get_tags(estimator).input_tags.sparse for estimator in estimators_of(self).values())
        return tags

    def _get_scorers(self) -> Any:
        return super(BanditSearchCV, self._with_first())._get_scorers()

    def get_metadata_routing(self) -> Any:
        """The metadata routing of all estimators."""
        router = super(BanditSearchCV, self._with_first()).get_metadata_routing()
        for name, estimator in list(estimators_of(self).items())[1:]:
            router.add(**{_route(name): estimator}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def _sk_visual_block_(self) -> Any:
        return super(BanditSearchCV, self._with_first())._sk_visual_block_()

    def _html_repr(self) -> str:
        """The diagram of scikit-learn and, once fitted, what the search found."""
        return str(super()._html_repr()) + html_or_nothing(search_html, self)


def _route(name: str) -> str:
    """The name under which metadata is routed to an estimator. The first is also routed as `estimator`."""
    return f"estimator_{name}"


def _seed(random_state: Any) -> int:
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
