"""Language models: roles and programs, prompts and replies, the one engine that asks, prices, the embedded server.

May import errors, run, settings, signatures, text, types.
"""
