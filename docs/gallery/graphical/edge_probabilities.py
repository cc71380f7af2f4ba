from pellucid import ModelAveragingStructure
from pellucid.data import load_network
from pellucid.graphical import read_network
from pellucid.plots import edge_probabilities

rows = read_network(load_network("cancer")).sample(2000, random_state=0)
edge_probabilities(ModelAveragingStructure(random_state=0).fit(rows)).plot()
