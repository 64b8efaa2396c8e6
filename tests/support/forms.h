/* The names of the algorithms of the fused pass (kernel_algorithms in kernels/kernels.h) that tests ask for one by one,
 * as TUPLESCAN_FORM does. NULL is the one that AUTO takes. */
#ifndef SUPPORT_FORMS_H
#define SUPPORT_FORMS_H

#define FORM_ALONE    "alone"
#define FORM_WAVE     "wave"
#define FORM_ROWS     "rows"
#define FORM_BYTES    "bytes"
#define FORM_BUFFERED "buffered"
#define FORM_NO_BULK  "no_bulk"
#define FORM_BEST     nullptr

#include <cstring>

static inline bool is_form(const char *form, const char *name) { return form && strcmp(form, name) == 0; }

#endif
