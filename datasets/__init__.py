"""Reads: files to NumPy objects and `tf.data` pipelines."""
