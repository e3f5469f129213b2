"""One search: the study that runs it, and everything that can be read from a stored one."""

from .study import Study
from .tune import tune
from .view import StudyView, load_study

__all__ = ["Study", "StudyView", "load_study", "tune"]
