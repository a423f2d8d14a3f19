#pragma once

#define ESPANK_SUCCESS 0
#define ESPANK_ERROR 3000
#define ESPANK_NODE_FAILURE 3011

#define SPANK_PLUGIN(name, version)                 \
	const char plugin_name[] = #name;           \
	const char plugin_type[] = "spank";         \
	const unsigned int spank_plugin_version = version;

typedef struct spank_handle *spank_t;
typedef int spank_err_t;
enum spank_item { S_JOB_STEPID = 3 };
enum spank_context {
	S_CTX_ERROR,
	S_CTX_LOCAL,
	S_CTX_REMOTE,
	S_CTX_ALLOCATOR,
	S_CTX_SLURMD,
	S_CTX_JOB_SCRIPT
};

int slurm_spank_init_post_opt(spank_t spank, int ac, char **av);
int slurm_spank_task_init_privileged(spank_t spank, int ac, char **av);
enum spank_context spank_context(void);
spank_err_t spank_get_item(spank_t spank, enum spank_item item, ...);
void slurm_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void slurm_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
