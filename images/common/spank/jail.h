/* Moving the calling thread, and all it will start, into the jail, and hiding what it still would see of the outside.
 * Knows nothing of Slurm, so that it can be tested without it. */

#ifndef JAIL_H
#define JAIL_H

struct jail_failure {
	const char *step; /* what was being done */
	int error;        /* errno of it */
	const char *look; /* where an administrator finds the cause */
};

/* Returns 0 inside the jail. Returns -1 with `failure` filled in otherwise: the caller may then stand anywhere between
 * the old root and the new one, and must not go on. */
int enter_jail(const char *jail, struct jail_failure *failure);

/* For one who is inside: the names of control groups, in /proc/self/cgroup and /proc/self/mountinfo, begin where the
 * caller is now, and no longer with the pod. Returns 0, or -1 with `failure` filled in. */
int hide_cgroup(struct jail_failure *failure);

#endif
