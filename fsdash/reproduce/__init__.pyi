from . import theory_figures as theory_figures
from .archive import archived_rows as archived_rows
from .experiments import experiment as experiment
from .report import figure_of as figure_of
from .settings import Setting as Setting
