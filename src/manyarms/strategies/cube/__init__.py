"""Bandits on the unit cube: boxes, partitions, regression trees and schedules, for PartitionUCB and TreeUCB."""
