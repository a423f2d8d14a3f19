/* Moving the calling thread, and all it will start, into the jail. Knows nothing of Slurm, so that it can be tested
 * without it. */

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

#endif
