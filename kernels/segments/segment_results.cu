/* Segments by the forms for values that lie well, in parts: one for each operation. */
#include "segments/segment_launch.cuh"

template <> int segment_results_of<KERNEL_PART>(const kernel_segmented_pass &from, const segment_plan &plan) {
    return with_segment_ops<KERNEL_PART>(from.kept, [&](auto ops) {
        typedef decltype(ops) Ops;
        int error = run_form<Ops, segment_form::STAGED_VECTORS>(from, plan);
        if (error == LAUNCH_REFUSED)
            error = run_form<Ops, segment_form::VECTORS>(from, plan);
        if constexpr (std::is_same<typename Ops::Value, float>::value)
            if (error == LAUNCH_REFUSED)
                error = run_form<Ops, segment_form::SMALL_VECTORS>(from, plan);
        return error == LAUNCH_REFUSED ? run_form<Ops, segment_form::ONE_COLUMN>(from, plan) : error;
    });
}
