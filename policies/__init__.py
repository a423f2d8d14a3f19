"""The policy pack: each rule a module with its page beside it."""
