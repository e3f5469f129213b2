"""Studies: run a search, resume it, and read a stored one."""

from .study import Study
from .tune import tune
from .view import StudyView, load_study

__all__ = ["Study", "StudyView", "load_study", "tune"]
