"""Tests of oneiro.compat.hermes."""
