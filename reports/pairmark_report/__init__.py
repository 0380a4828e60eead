"""Draws pages from pairmark results.

It decides nothing: every figure and verdict is taken from result.json.
"""
