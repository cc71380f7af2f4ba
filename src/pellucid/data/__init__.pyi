"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.data.block import Blocks as Blocks
from pellucid.data.block import blocks as blocks
from pellucid.data.catalog import DataInfo as DataInfo
from pellucid.data.catalog import list_data as list_data
from pellucid.data.findings import DataWarning as DataWarning
from pellucid.data.generators import make as make
from pellucid.data.generators import make_blobs as make_blobs
from pellucid.data.generators import make_exponential as make_exponential
from pellucid.data.generators import make_line_labels as make_line_labels
from pellucid.data.generators import make_mixture as make_mixture
from pellucid.data.generators import make_moons as make_moons
from pellucid.data.generators import make_noisy_line as make_noisy_line
from pellucid.data.generators import make_noisy_quadratic as make_noisy_quadratic
from pellucid.data.generators import make_rings as make_rings
from pellucid.data.generators import make_step as make_step
from pellucid.data.generators import make_three_clusters as make_three_clusters
from pellucid.data.generators import make_threshold_strip as make_threshold_strip
from pellucid.data.generators import make_two_blobs as make_two_blobs
from pellucid.data.idx import load_idx as load_idx
from pellucid.data.loader import load as load
from pellucid.data.tables import load_food as load_food
from pellucid.data.tables import load_iris as load_iris
from pellucid.data.tables import load_network as load_network
from pellucid.data.tables import load_nist as load_nist
from pellucid.data.tables import load_penguins as load_penguins
from pellucid.data.tables import load_play_ball as load_play_ball
from pellucid.data.tables import load_points as load_points
from pellucid.data.tables import load_table as load_table
from pellucid.data.tables import nist_certified as nist_certified
from pellucid.data.write import write_csv as write_csv

__all__: list[str]
_HOME: dict[str, str]
