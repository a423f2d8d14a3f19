/* SPANK plugin that moves each job step into the jail, the root directory that all nodes share.
 *
 *     required chroot.so jail=/mnt/jail
 *
 * slurmstepd loads it, and so do srun, sbatch and salloc on the login nodes, where there is nothing to do. It goes to
 * work after slurmstepd has read its options and before it becomes the user: batch script, interactive step and
 * srun's steps alike. slurmstepd itself goes on inside, so its plugins, spool directory and resolv.conf must be there
 * at the same paths. Each task then gets its own view of the control groups. With "optional" in place of "required",
 * Slurm would run steps outside a jail that is not there.
 */

#include "jail.h"

#include <slurm/slurm.h>
#include <slurm/spank.h>

#include <stdint.h>
#include <string.h>

SPANK_PLUGIN(chroot, 1)

/* Fails the step before anything of the user's runs. slurmctld then drains a batch job's node and queues the job again:
 * it is the node that lacks its jail. */
#define STEP_FAILS ESPANK_NODE_FAILURE

static const char *jail_of(int ac, char **av)
{
	static const char key[] = "jail=";

	if (ac != 1 || strncmp(av[0], key, strlen(key)) != 0 || av[0][strlen(key)] != '/') {
		slurm_error("chroot: plugstack.conf must give this plugin one argument, jail=/absolute/path, "
			    "and gives %d, the first: %s",
			    ac, ac > 0 ? av[0] : "(none)");
		return NULL;
	}
	return av[0] + strlen(key);
}

int slurm_spank_init_post_opt(spank_t spank, int ac, char **av)
{
	struct jail_failure failure;
	const char *jail;
	uint32_t step;

	if (spank_context() != S_CTX_REMOTE)
		return ESPANK_SUCCESS;

	if (spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS) {
		slurm_error("chroot: Slurm does not tell which step this is, so it cannot be moved into the jail. "
			    "Was the plugin built for this version of Slurm?");
		return STEP_FAILS;
	}
	/* It runs nothing of the user's. It holds the job's cgroup on the node, where slurmd looks for it. */
	if (step == SLURM_EXTERN_CONT)
		return ESPANK_SUCCESS;

	jail = jail_of(ac, av);
	if (!jail)
		return STEP_FAILS;

	if (enter_jail(jail, &failure)) {
		slurm_error("chroot: cannot %s (%s): %s. %s", failure.step, jail, strerror(failure.error),
			    failure.look);
		return STEP_FAILS;
	}
	slurm_debug("chroot: step runs in %s", jail);
	return ESPANK_SUCCESS;
}

/* In the task, while it is still root, and not in slurmstepd, which has to find the groups that it makes. */
int slurm_spank_task_init_privileged(spank_t spank, int ac, char **av)
{
	struct jail_failure failure;

	(void)spank;
	(void)ac;
	(void)av;
	if (hide_cgroup(&failure)) {
		slurm_error("chroot: cannot %s: %s. %s", failure.step, strerror(failure.error), failure.look);
		return STEP_FAILS;
	}
	return ESPANK_SUCCESS;
}
