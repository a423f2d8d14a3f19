/* The steps into the jail, in order. The first that fails ends it. */

#define _GNU_SOURCE

#include "jail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* O_PATH asks nothing of the directory but that it is there, so a jail that may not be read is not mistaken for one
 * that is missing. */
static int find_directory(const char *jail)
{
	int directory = open(jail, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return directory < 0 ? -1 : close(directory);
}

/* pivot_root would refuse too, with an EINVAL that has six other meanings. A plain directory here most often is the
 * mount point of a volume that did not come, and so not the jail but an empty folder of the image. */
static int find_mount(const char *jail)
{
	struct statx found;

	if (statx(AT_FDCWD, jail, 0, STATX_TYPE, &found))
		return -1;
	/* Kernels before 5.8 do not tell. pivot_root finds out. */
	if (!(found.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
		return 0;
	if (found.stx_attributes & STATX_ATTR_MOUNT_ROOT)
		return 0;
	errno = EINVAL;
	return -1;
}

/* From here on this thread has mounts of its own: slurmd and the other steps keep theirs. Descriptors opened earlier
 * still lead to the old mounts, so the next steps go by path. */
static int unshare_mounts(const char *jail)
{
	(void)jail;
	return unshare(CLONE_NEWNS);
}

/* Without this, what follows would happen in slurmd's namespace as well. A slave, not private: what is mounted into
 * the jail later still reaches running jobs. */
static int stop_propagation(const char *jail)
{
	(void)jail;
	return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL);
}

static int go_to_jail(const char *jail)
{
	return chdir(jail);
}

/* The old root is put on top of the new one, so that the jail needs no directory for it. */
static int swap_roots(const char *jail)
{
	(void)jail;
	return (int)syscall(SYS_pivot_root, ".", ".");
}

/* A proc that was mounted elsewhere may show other processes, and the container runtime's masks over parts of it. In this
 * one users see their own: the files of the first would tell of slurmd's container. It comes before the old root goes: in
 * a user namespace only those who still see a proc may mount another. */
static int mount_proc(const char *jail)
{
	(void)jail;
	return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2");
}

/* "." still leads to the old root, which covers the new one. Lazily, as other threads may work in it. */
static int drop_old_root(const char *jail)
{
	(void)jail;
	return umount2(".", MNT_DETACH);
}

static int go_to_new_root(const char *jail)
{
	(void)jail;
	return chdir("/");
}

static const struct {
	int (*run)(const char *jail);
	const char *name;
	const char *look;
} steps[] = {
	{find_directory, "find the jail's directory",
	 "See jail= in plugstack.conf, and the volume mounts of the slurmd container."},
	{find_mount, "find a mount at the jail's directory",
	 "The jail's volume is not mounted there. See the volume mounts of the slurmd container."},
	{unshare_mounts, "make a mount namespace",
	 "slurmd needs CAP_SYS_ADMIN: its container must be privileged."},
	{stop_propagation, "make all mounts slaves",
	 "slurmd needs CAP_SYS_ADMIN, and / must be a mount point in its container."},
	{go_to_jail, "change directory to the jail",
	 "Root must be allowed to enter it. See the mode of the directory, and the export of the volume."},
	{swap_roots, "pivot_root into the jail",
	 "The jail must be a mount point other than /, and the container's root not the initial ramfs."},
	{mount_proc, "mount proc on /proc inside the jail",
	 "The jail must have a directory /proc. An unfinished one has none: see the populate-jail Job."},
	{drop_old_root, "unmount the old root",
	 "slurmd needs CAP_SYS_ADMIN, and no security profile may forbid umount2."},
	{go_to_new_root, "change directory to the new root",
	 "Root must be allowed to enter it. See the mode of the jail's directory."},
};

int enter_jail(const char *jail, struct jail_failure *failure)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (steps[i].run(jail) == 0)
			continue;
		*failure = (struct jail_failure){steps[i].name, errno, steps[i].look};
		return -1;
	}
	return 0;
}

/* Version 2 is left as it is. There the tree in /sys/fs/cgroup is the whole node's, and Slurm moves a task on to a group
 * of its own after this: its name would no longer lead to where the limits are that programs look up. */
int hide_cgroup(struct jail_failure *failure)
{
	struct statfs tree;

	if (statfs("/sys/fs/cgroup", &tree) == 0 && tree.f_type == CGROUP2_SUPER_MAGIC)
		return 0;
	if (unshare(CLONE_NEWCGROUP) == 0)
		return 0;
	*failure = (struct jail_failure){"make a cgroup namespace", errno,
					 "slurmd needs CAP_SYS_ADMIN: its container must be privileged."};
	return -1;
}
