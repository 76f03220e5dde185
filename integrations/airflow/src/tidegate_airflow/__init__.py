"""Tidegate's gate in Airflow. Only plugin.py and what Airflow itself calls may import airflow; nothing else does."""
