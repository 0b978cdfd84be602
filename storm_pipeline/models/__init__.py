"""Language models: roles, programs, prompts, replies, the engine of all calls, prices, the embedded server.

May import errors, run, settings, signatures, text, types.
"""
