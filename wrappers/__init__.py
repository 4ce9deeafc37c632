"""Views of the environments for a consumer, one module each; see the docstring of each class for its spaces."""
