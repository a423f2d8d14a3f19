"""Another image for both slurmctld, the workers and the logins."""

from tests.cluster.stacks import Stack
from tests.cluster.upgrades import upgrade


def test_the_daemons_get_another_image_in_slurms_order_while_jobs_run(ha: Stack) -> None:
    upgrade(ha, "controller", "worker", "login")
