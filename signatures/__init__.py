"""What a language model is asked: one DSPy signature a prompt, and worked examples for models that need them."""
