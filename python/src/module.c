#include "module.h"

static PyObject *core_cuda_unavailable(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    const char *why = table_cuda_unavailable();
    return why ? PyUnicode_FromString(why) : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"cumsum", (PyCFunction)(void (*)(void))core_cumsum, METH_FASTCALL | METH_KEYWORDS, core_cumsum_doc},
    {"at_once", (PyCFunction)(void (*)(void))core_at_once, METH_FASTCALL, NULL},
    {"scan", core_scan, METH_VARARGS, NULL},
    {"types_supported", core_types_supported, METH_VARARGS, NULL},
    {"kept_type", core_kept_type, METH_VARARGS, NULL},
    {"recurrence", core_recurrence, METH_VARARGS, NULL},
    {"extreme_rows", core_extreme_rows, METH_VARARGS, NULL},
    {"segments", core_segments, METH_VARARGS, NULL},
    {"scan_columns", core_scan_columns, METH_VARARGS, NULL},
    {"column_totals", core_column_totals, METH_VARARGS, NULL},
    {"state_bytes", core_state_bytes, METH_VARARGS, NULL},
    {"state_begin", core_state_begin, METH_VARARGS, NULL},
    {"state_facts", core_state_facts, METH_O, NULL},
    {"state_sums", core_state_sums, METH_VARARGS, NULL},
    {"state_save", core_state_save, METH_VARARGS, NULL},
    {"state_load", core_state_load, METH_VARARGS, NULL},
    {"state_equal", core_state_equal, METH_VARARGS, NULL},
    {"state_join", core_state_join, METH_VARARGS, NULL},
    {"argsort", core_argsort, METH_VARARGS, NULL},
    {"tensors_are_here", core_tensors_are_here, METH_VARARGS, NULL},
    {"cupy_is_here", core_cupy_is_here, METH_VARARGS, NULL},
    {"xla_handlers", core_xla_handlers, METH_NOARGS, NULL},
    {"limit_threads", core_limit_threads, METH_O, NULL},
    {"set_num_threads", core_set_num_threads, METH_O, NULL},
    {"get_num_threads", core_get_num_threads, METH_NOARGS, NULL},
    {"numpy_is_here", core_numpy_is_here, METH_VARARGS, NULL},
    {"cuda_unavailable", core_cuda_unavailable, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) { return PyModule_AddStringConstant(module, "__version__", table_version()); }

static int traverse(PyObject *module, visitproc visit, void *arg) {
    struct module_state *state = PyModule_GetState(module);
    for (int i = 0; state && i < KEPT; i++)
        Py_VISIT(state->kept[i]);
    return 0;
}

static int clear(PyObject *module) {
    struct module_state *state = PyModule_GetState(module);
    for (int i = 0; state && i < KEPT; i++)
        Py_CLEAR(state->kept[i]);
    return 0;
}

static void release(void *module) { clear(module); }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute}, /* -Wpedantic: Python's own rule */
#ifdef Py_mod_gil                   /* Python 3.13; the limited API of 3.11 has no free threads */
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tuplescan._core",
    .m_size = sizeof(struct module_state),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
