/* Values beside keys, and lines that are written past the caches. For key_kernels.c. */

INLINE size_t move_bytes(enum key_move move) {
    return move == MOVE_KEYS ? 0 : move == MOVE_4 || move == MOVE_INDEX_4 ? 4 : 8;
}

/* The value of key i to `slot`. Values may lie anywhere. */
INLINE void move_value(char *slot, const struct key_places *to, size_t i, enum key_move move) {
    const uint64_t index = to->first_index + i;
    const uint32_t small_index = (uint32_t)index;
    switch (move) {
    case MOVE_KEYS:
        break;
    case MOVE_4:
        memcpy(slot, (const char *)to->values_from + 4 * i, 4);
        break;
    case MOVE_8:
        memcpy(slot, (const char *)to->values_from + 8 * i, 8);
        break;
    case MOVE_INDEX_4:
        memcpy(slot, &small_index, 4);
        break;
    case MOVE_INDEX_8:
        memcpy(slot, &index, 8);
        break;
    }
}

INLINE void stream_key_line(char *to, const char *from) {
#if defined(__AVX512F__)
    _mm512_stream_si512((void *)to, _mm512_load_si512(from));
#elif defined(__AVX2__)
    for (int i = 0; i < 2; i++)
        _mm256_stream_si256((__m256i *)(void *)to + i, _mm256_load_si256((const __m256i *)(const void *)from + i));
#elif defined(__x86_64__)
    for (int i = 0; i < 4; i++)
        _mm_stream_si128((__m128i *)(void *)to + i, _mm_load_si128((const __m128i *)(const void *)from + i));
#else
    memcpy(to, from, KEY_LINE);
#endif
}

/* A line that is full, `last` being the place of its last element: all of it, or, if it is a digit's first line, what
 * there is from the digit's first place on. What lies before that is another digit's. */
INLINE void write_line(void *memory, const void *line, size_t last, size_t before, size_t first, size_t size,
                       bool stream) {
    const size_t in_line = KEY_LINE / size, begin = last + 1 - in_line;
    char *to = (char *)memory + (last + 1 - before) * size;
    if (first > begin)
        memcpy(to - (last + 1 - first) * size, (const char *)line + (first - begin) * size, (last + 1 - first) * size);
    else if (stream)
        stream_key_line(to - KEY_LINE, line);
    else
        memcpy(to - KEY_LINE, line, KEY_LINE);
}

/* What is left in a line when the digit ends at the place `end`. */
INLINE void write_rest(void *memory, const void *line, size_t end, size_t before, size_t first, size_t size) {
    const size_t begin = end - end % (KEY_LINE / size), from = first > begin ? first : begin;
    if (from < end)
        memcpy((char *)memory + (from - before) * size, (const char *)line + (from - begin) * size,
               (end - from) * size);
}

/* Has to be called before another thread may look at the lines. */
INLINE void write_end(void) {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}
