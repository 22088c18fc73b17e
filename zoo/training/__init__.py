"""Loop pieces that the tasks share: schedules, checkpoints, logs."""
