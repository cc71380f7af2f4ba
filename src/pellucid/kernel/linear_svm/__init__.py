"""Linear support vector machines, solved in the primal and the dual together.

Read ``linear_svc.py`` first, then ``margin_problem.py`` (the problem and where it is evaluated)
and ``margin_newton.py`` (the method). ``margin_lasso.py`` adds the L1 penalty,
``crammer_singer.py`` the joint loss of several classes, ``hinge.py`` the risk as a function.
"""
