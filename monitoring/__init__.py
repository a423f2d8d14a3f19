"""Alerts and dashboards, as Prometheus and Grafana read them."""
