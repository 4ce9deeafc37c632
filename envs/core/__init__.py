"""What every family needs: seeding, a counter-based generator and reproducible elementary functions."""
