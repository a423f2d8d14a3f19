"""`slipway report`: what a preview found, for those who review it."""
