"""Causal circuits: a few noisy interventions on a hidden nonlinear circuit, then one prediction, scored exactly."""
