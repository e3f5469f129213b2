"""The search of a fitted `BanditSearchCV` as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...html.notebook import block_html, config_facts, facts_html, heading_html
from ...study.summary import counted


def search_html(search: Any) -> str:
    """What the search found; empty if it is not fitted."""
    if not hasattr(search, "cv_results_"):
        return ""
    params = facts_html(config_facts(search.best_params_), "Best parameters") if hasattr(search, "best_params_") else ""
    return block_html(heading_html("Search", *_counts(search)), facts_html(_best(search)), params)


def _counts(search: Any) -> Iterator[str]:
    counts, budget = search.study_.counts, search.study_.budget
    yield counted(counts.steps, "step") if budget is None else f"{counts.steps} of {counted(budget, 'step')}"
    yield counted(len(counts.arms), "arm")
    if counts.failures:
        yield f"{counted(counts.failures, 'failed pull')}, most often: {counts.reasons.most_common(1)[0][0]}"


def _best(search: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(search, "best_index_"):
        yield "best", "none was chosen, because refit=False"
        return
    results, best = search.cv_results_, search.best_index_
    if hasattr(search, "best_score_"):
        yield "best score", f"{search.best_score_:.6g} (mean of {search.n_splits_} folds)"
    yield "best arm", f"arm {results['arm'][best]}, {counted(int(results['steps'][best]), 'step')}"
