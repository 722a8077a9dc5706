"""Somebody published a number: which settings give it?"""
