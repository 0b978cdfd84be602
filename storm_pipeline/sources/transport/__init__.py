"""HTTP access to services: rate limits, retries, circuit breaker, size and time limits."""
