from pellucid.plots import variance_of_average

variance_of_average().plot()
