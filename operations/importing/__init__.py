"""`slipway import`: a stack file from what another operator was told.

What a source may say stands in one table for each operator (`soperator_fields.py`, `slurm_operator_fields.py`): each
field with what it becomes, or why it is left out. The page `docs/coming-from.md` is written from the same tables."""
