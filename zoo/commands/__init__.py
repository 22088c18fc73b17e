"""The `seqzoo` command: thin absl mains."""
