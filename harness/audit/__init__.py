"""What a number is worth: conventions, explain, why, verify, changes, check-table."""
