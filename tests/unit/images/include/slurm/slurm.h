/* As much of Slurm's headers as the plugin uses, with Slurm's values, so that its tests need no libslurm-dev. */

#pragma once

#define SLURM_EXTERN_CONT 0xfffffffc
