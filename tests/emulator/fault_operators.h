/* The parts that run with a fault of recurrences, products and segments (fault_parts.cpp). */
#ifndef FAULT_OPERATORS_H
#define FAULT_OPERATORS_H

bool recurrences_in_stages_are_right();
bool fused_recurrences_are_right();
bool all_segments_are_right();

#endif
