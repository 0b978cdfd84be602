"""Experiments: methods compared on the topics of a data set, by metrics, on one machine or many."""
