/* The stages of the CPU backend: see src/backend.h. */
#ifndef CPU_STAGES_H
#define CPU_STAGES_H

#include "../backend.h"

table_status cpu_stage1_local_counts(const struct scan *scan, void *seeds);
table_status cpu_stage2_sweep(const struct scan *scan, void *seeds, size_t rows, const void *bases);
table_status cpu_stage3_global_pass(const struct scan *scan, void *seeds);
size_t cpu_fused_plan(const struct scan *scan, bool in_one, struct backend_pass *pass, bool *may_be_refused);
table_status cpu_fused(const struct scan *scan, const struct backend_pass *pass, void *workspace);
bool cpu_batch_plan(const struct scan *scan, struct backend_batch *pass);
table_status cpu_batch(const struct scan *scan, const struct backend_batch *pass, void *workspace);
size_t cpu_segments_workspace(const struct scan *scan, const struct segments *segments);
table_status cpu_mark_extremes(const struct scan *scan, const struct extreme_marks *marks);
table_status cpu_segments(const struct scan *scan, const struct segments *segments, void *workspace);

#endif
