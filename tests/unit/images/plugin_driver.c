/* Stands in for slurmstepd: loads the plugin, calls its hook, and that of a task, and tells where they have brought it.
 *
 *     plugin_driver PLUGIN CONTEXT STEP FORBIDDEN [ARGUMENT...]
 *
 * STEP is a number, or "unknown". FORBIDDEN is "nothing", or a step of the way that the kernel shall refuse. */

#define _GNU_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOUNTS "/proc/self/ns/mnt"
#define GROUPS "/proc/self/ns/cgroup"

static enum spank_context context;
static const char *step;

enum spank_context spank_context(void)
{
	return context;
}

spank_err_t spank_get_item(spank_t spank, enum spank_item item, ...)
{
	va_list arguments;

	(void)spank;
	if (item != S_JOB_STEPID || !strcmp(step, "unknown"))
		return ESPANK_ERROR;
	va_start(arguments, item);
	*va_arg(arguments, uint32_t *) = (uint32_t)strtoul(step, NULL, 0);
	va_end(arguments);
	return ESPANK_SUCCESS;
}

void slurm_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

void slurm_debug(const char *format, ...)
{
	(void)format;
}

static enum spank_context context_named(const char *name)
{
	static const char *const names[] = {"error", "local", "remote", "allocator", "slurmd", "job_script"};

	for (int i = 0; i < 6; i++)
		if (!strcmp(name, names[i]))
			return (enum spank_context)i;
	exit(2);
}

/* From now on the call fails with ENOSYS if (or unless) the masked bits of one of its arguments have this value. */
static void forbid(int call, int argument, uint32_t mask, uint32_t value, int unless)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offsetof(struct seccomp_data, args) + 8 * argument)),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, unless, !unless),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		exit(2);
	}
}

static void forbid_named(const char *name, const char *jail)
{
	/* The jail's path and "/" are told apart by where they stand in memory, which is all a filter sees. */
	uint32_t path = (uint32_t)(uintptr_t)jail;

	if (!strcmp(name, "slave"))
		forbid(SYS_mount, 3, MS_SLAVE, MS_SLAVE, 0);
	else if (!strcmp(name, "chdir jail"))
		forbid(SYS_chdir, 0, UINT32_MAX, path, 0);
	else if (!strcmp(name, "umount"))
		forbid(SYS_umount2, 1, MNT_DETACH, MNT_DETACH, 0);
	else if (!strcmp(name, "chdir root"))
		forbid(SYS_chdir, 0, UINT32_MAX, path, 1);
	else if (!strcmp(name, "cgroup"))
		forbid(SYS_unshare, 0, CLONE_NEWCGROUP, CLONE_NEWCGROUP, 0);
	else if (strcmp(name, "nothing") != 0)
		exit(2);
}

static ino_t namespace(const char *file)
{
	struct stat found = {0};

	stat(file, &found);
	return found.st_ino;
}

static void list(const char *what, const char *directory)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	char own[16];

	printf("%s", what);
	if (entries)
		snprintf(own, sizeof(own), "%d", dirfd(entries));
	while (entries && (entry = readdir(entries)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, own) != 0)
			printf(" %s", entry->d_name);
	printf("\n");
	if (entries)
		closedir(entries);
}

static void tell_namespace(const char *what, const char *file, ino_t before)
{
	printf("%s %s\n", what, namespace(file) == before ? "old" : "new");
}

static void copy_mounts(void)
{
	FILE *lines = fopen("/proc/self/mountinfo", "re");
	char line[4096];

	while (lines && fgets(line, sizeof(line), lines))
		printf("mount %s", line);
	if (lines)
		fclose(lines);
}

int main(int argc, char **argv)
{
	ino_t mounts = namespace(MOUNTS), groups = namespace(GROUPS);
	char directory[4096];
	int (*hook)(spank_t, int, char **), (*task_hook)(spank_t, int, char **), returned;
	void *plugin;

	if (argc < 5)
		return 2;
	plugin = dlopen(argv[1], RTLD_NOW);
	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	*(void **)&hook = dlsym(plugin, "slurm_spank_init_post_opt");
	*(void **)&task_hook = dlsym(plugin, "slurm_spank_task_init_privileged");
	context = context_named(argv[2]);
	step = argv[3];
	forbid_named(argv[4], argc > 5 ? argv[5] + strlen("jail=") : "");

	returned = hook(NULL, argc - 5, argv + 5);
	printf("returned %d\n", returned);
	tell_namespace("namespace", MOUNTS, mounts);
	tell_namespace("step_groups", GROUPS, groups);
	if (returned == ESPANK_SUCCESS && context == S_CTX_REMOTE)
		printf("task_returned %d\n", task_hook(NULL, argc - 5, argv + 5));
	tell_namespace("groups", GROUPS, groups);
	printf("directory %s\n", getcwd(directory, sizeof(directory)));
	list("root", "/");
	list("descriptors", "/proc/self/fd");
	copy_mounts();
	return 0;
}
