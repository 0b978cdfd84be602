"""Parts of settings: their types, addresses, environment variables, and providers of models."""
