"""Audits of numbers: conventions, trace, verify, diff of leaderboards."""
