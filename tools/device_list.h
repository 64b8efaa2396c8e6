/* The value of --devices. */
#ifndef DEVICE_LIST_H
#define DEVICE_LIST_H

enum { DEVICES_MOST = 64 };

struct device_list {
    int numbers[DEVICES_MOST];
    unsigned count; /* 0: not said */
};

/* An option_taker: numbers of CUDA devices with commas between them, or `all`, into a struct device_list. */
int take_devices(const char *option, char *text, void *place);

#endif
