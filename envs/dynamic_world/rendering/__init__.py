"""What a person sees of a world: a chronicle and pictures, drawn from the public payload and, in the end, a verdict."""
