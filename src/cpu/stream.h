/* Copies that leave the caches alone: whole lines are written past them, without being read first. Included by
 * kernels.c. */
#if defined(__x86_64__)
INLINE void stream_line(char *to, const char *from) {
#if VECTOR_BYTES == 64
    _mm512_stream_si512((void *)to, _mm512_loadu_si512(from));
#elif VECTOR_BYTES == 32
    _mm256_stream_si256((__m256i *)to, _mm256_loadu_si256((const __m256i *)from));
    _mm256_stream_si256((__m256i *)to + 1, _mm256_loadu_si256((const __m256i *)from + 1));
#else
    for (int i = 0; i < 4; i++)
        _mm_stream_si128((__m128i *)to + i, _mm_loadu_si128((const __m128i *)from + i));
#endif
}

static void stream(void *to, const void *from, size_t bytes) {
    enum { LINE = 64 };
    char *out = to;
    const char *in = from;
    const size_t head = -(uintptr_t)to % LINE;
    if (bytes < head + LINE) {
        memcpy(out, in, bytes);
        return;
    }
    memcpy(out, in, head);
    size_t done = head;
    for (; done + LINE <= bytes; done += LINE)
        stream_line(out + done, in + done);
    memcpy(out + done, in + done, bytes - done);
}

static void stream_end(void) { _mm_sfence(); }
#else
static void stream(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
static void stream_end(void) {}
#endif
