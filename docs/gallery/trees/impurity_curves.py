from pellucid.plots import impurity_curves

impurity_curves().plot()
