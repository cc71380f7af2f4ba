"""Networks: layers of simple units, trained by the chain rule. Read ``backpropagation`` first.

In teaching order:

- units and slopes: ``boolean_network``, ``computational_graph``, ``backpropagation``
- training: ``initial_weights``, ``dropout``, ``batch_normalisation``, ``autoencoder``
- images, sequences, graphs: ``convolution``, ``recurrent_network``, ``gated_recurrent_unit``,
  ``long_short_term_memory``, ``attention``, ``positional_encoding``, ``transformer_layer``,
  ``beam_search``, ``graph_convolution``, ``adversarial_network``
"""
