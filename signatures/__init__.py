"""Prompts: one DSPy signature each, and worked examples for models that need them.

Imports dspy and pydantic only.
"""
