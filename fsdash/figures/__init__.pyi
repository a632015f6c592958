from .policies import InspectedPolicy as InspectedPolicy
from .policies import PolicyFigure as PolicyFigure
from .policies import Versus as Versus
from .policies import comparison_figures as comparison_figures
from .policies import optimal_policy as optimal_policy
from .policies import policy_figures as policy_figures
from .policies import policy_table as policy_table
from .policies import recompute as recompute
