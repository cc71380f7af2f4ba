"""The course's own examples with the numbers they must give: ``pellucid demo``.

Read ``examples`` first; the examples themselves are in ``classification``, ``regression`` and
``general``. ``golden`` holds the fits of ``pellucid doctor --self-test``.
"""
