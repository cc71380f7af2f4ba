"""Every method of the course as its mathematics: plain NumPy, one short file each.

A file stands alone: it imports nothing else of the library and can be copied into a notebook. Its
docstring says what is minimised, why the step is the right one, what it costs, and how the fast
version differs; the code below uses the same letters. A test holds it equal to that fast version.
Where a method iterates, a generator yields every state, so a reader can stop after any step.

Import by path: ``from pellucid.textbook.shrinkage.ridge import ridge``. ``methods.txt`` says which
file belongs to which public name. The chapters, in the order of a course:

- ``regression``      begin with ``normal_equations``
- ``robust``          begin with ``theil_sen``
- ``shrinkage``       begin with ``ridge``
- ``classification``  begin with ``logistic_regression``
- ``labels``          begin with ``expected_loss``
- ``evaluation``      begin with ``cross_validation``
- ``comparison``      begin with ``corrected_t_test``
- ``features``        begin with ``standardise``
- ``optimisation``    begin with ``gradient_descent``
- ``neighbors``       begin with ``nearest_neighbours``
- ``trees``           begin with ``cart``
- ``ensembles``       begin with ``bagging``
- ``kernels``         begin with ``kernel_functions``
- ``clusters``        begin with ``kmeans``
- ``mixtures``        begin with ``gaussian_mixture``
- ``projections``     begin with ``pca``
- ``networks``        begin with ``backpropagation``
- ``sampling``        begin with ``metropolis_hastings``
- ``graphical``       begin with ``d_separation``
- ``structures``      begin with ``hill_climbing``
- ``sequences``       begin with ``forward_backward``
- ``decisions``       begin with ``value_iteration``
- ``reinforcement``   begin with ``q_learning``
- ``mathematics``     begin with ``gram_schmidt``
- ``theory``          begin with ``hoeffding``
"""
