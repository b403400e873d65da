"""Requests and replies of the API, as pydantic models."""
