/* Stands for the GPU tests in a build without CUDA, so that they are seen to be skipped. */
#include <stdio.h>

int main(void) {
    puts("skipped: built without CUDA");
    return 77;
}
