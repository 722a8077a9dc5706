"""The report page: one HTML file that shows a leaderboard without a network."""
