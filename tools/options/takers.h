/* What the value of an option may be. */
#ifndef OPTIONS_TAKERS_H
#define OPTIONS_TAKERS_H

#include "options/option.h"

enum { BY_MOST = 16, DEVICES_MOST = 64 };

/* Words that an option was given, one by one or with commas between them. */
struct option_words {
    const char *list[BY_MOST];
    unsigned count;
};

/* A:B of any numbers. */
struct option_range {
    double low, high;
};

/* A:B, A: or :B of rows; `to` SIZE_MAX: to the end. */
struct option_rows {
    size_t from, to;
};

/* CUDA devices. */
struct option_devices {
    int numbers[DEVICES_MOST];
    unsigned count; /* 0: not said */
};

option_taker take_flag, take_no_flag, take_text, take_format; /* bool, const char * */
option_taker take_input;                                      /* const char *, of a file that is read */
option_taker take_size, take_size_or_0;                       /* size_t, from 1 or 0 on */
option_taker take_number, take_integer, take_unsigned;        /* uint64_t, int64_t, unsigned */
option_taker take_type, take_backend, take_operation;         /* table_type, table_backend, table_operation */
option_taker take_row_range, take_range;                      /* struct option_rows, struct option_range */
option_taker take_word, take_words;                           /* struct option_words */
option_taker take_delimiter;                                  /* char */
option_taker take_devices;                                    /* struct option_devices: numbers, or `all` */

#endif
