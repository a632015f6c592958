from .axis import Coordinate as Coordinate
from .blocks import frozen_blocks as frozen_blocks
from .compare import disagreement as disagreement
from .compare import simulate_pair as simulate_pair
from .simulate import visits as visits
