"""What a person sees of an instance: text and pictures, drawn from the public payload and, in the end, a verdict."""
