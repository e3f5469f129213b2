"""Studies: run a search, resume it, and read a stored one."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .study import Study
    from .tuning import tune
    from .view import StudyView, load_study

__all__ = ["Study", "StudyView", "load_study", "tune"]

if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Any:
        """Import a name when it is first used. The command line reads stored studies without NumPy, which is slow to import."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        for module in ("study", "tuning", "view"):
            globals().update(
                {key: value for key, value in vars(import_module(f"{__name__}.{module}")).items() if key in __all__}
            )
        return globals()[name]
