"""What a person sees of an episode: text and pictures, drawn from a view that holds nothing hidden before the end."""
