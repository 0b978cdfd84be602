"""What a judging language model is asked: one DSPy signature a prompt."""
