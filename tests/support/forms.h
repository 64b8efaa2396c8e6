/* The names of the forms of the fused pass (kernel_forms in kernels/kernels.h) that tests ask for one by one. NULL is
 * the form that AUTO takes. */
#ifndef SUPPORT_FORMS_H
#define SUPPORT_FORMS_H

#define FORM_ALONE   "alone"
#define FORM_WAVE    "wave"
#define FORM_ROWS    "rows"
#define FORM_BYTES   "bytes"
#define FORM_PARKED  "parked"
#define FORM_GENERAL "general"
#define FORM_BEST    nullptr

#include <cstring>

static inline bool is_form(const char *form, const char *name) { return form && strcmp(form, name) == 0; }

#endif
