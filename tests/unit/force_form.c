/* Linked with the command, so that `bench` measures one form of the fused pass, whatever the table and the device. */
#include "fused.h"

__attribute__((constructor)) static void force(void) { cuda_forced_form = FORCED_FORM; }
