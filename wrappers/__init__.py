"""Views of the environments for a consumer; none yet."""
