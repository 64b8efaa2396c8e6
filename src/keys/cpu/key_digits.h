/* Counting and moving keys of one width. Expects TAG, a row of key_kernels.c.
 * Included once for each. */
#define DIGITS_NAME(what) PASTE(what, TAG)

/* The sort key of a key, in pipeline.h's order. A float with the top bit has all others flipped before `flip` comes. */
INLINE KEY DIGITS_NAME(order)(KEY key, KEY flip) {
#if KEY_FLOATING
    key ^= (KEY)(KEY_SIGNED)((KEY_SIGNED)key >> (8 * sizeof(KEY) - 1)) >> 1;
#endif
    return key ^ flip;
}

#define DIGIT_OF(key) ((size_t)((DIGITS_NAME(order)(key, flip) >> shift) & mask))

/* Four keys, in tables taken in turns. DIGIT_AT(k) is the digit of key k. */
#define COUNT_FOUR(DIGIT_AT, k)                                                                                        \
    do {                                                                                                               \
        first[DIGIT_AT(k)]++;                                                                                          \
        second[DIGIT_AT((k) + 1)]++;                                                                                   \
        third[DIGIT_AT((k) + 2)]++;                                                                                    \
        fourth[DIGIT_AT((k) + 3)]++;                                                                                   \
    } while (0)

#if BYTE_KERNELS
/* Digits whose counters are bytes' own, of whole blocks of keys, in the first table of each. Returns how many keys
 * these are. */
static size_t DIGITS_NAME(count_blocks)(const struct key_digits *digits, uint32_t *tables) {
    const KEY *keys = digits->keys, flip = (KEY)digits->flip, mask = (KEY)(((uint64_t)1 << digits->bits) - 1);
    const size_t counters = (size_t)1 << digits->bits;
    const size_t blocks = digits->bits < BYTE_BITS_LEAST || digits->bits > BYTE_BITS ? 0 : digits->count / BYTE_BLOCK;
    const bool are_bytes = sizeof(KEY) == 1 && digits->bits == BYTE_BITS && flip == 0 && digits->shift == 0;
    uint8_t bytes[BYTE_BLOCK];
    for (size_t block = 0; block < blocks; block++, keys += BYTE_BLOCK)
        for (unsigned digit = 0; digit < digits->digits; digit++) {
            const unsigned shift = digits->shift + digit * digits->bits;
            const bool next = digit == 0 && block + 1 < blocks;
            for (unsigned i = 0; i < BYTE_BLOCK && !are_bytes; i++)
                bytes[i] = (uint8_t)DIGIT_OF(keys[i]);
            count_bytes(are_bytes ? (const uint8_t *)keys : bytes, (unsigned)counters, tables + digit * counters,
                        keys + (next ? BYTE_BLOCK : 0), next ? BYTE_BLOCK * sizeof(KEY) : 0);
        }
    return blocks * BYTE_BLOCK;
}
#else
static size_t DIGITS_NAME(count_blocks)(const struct key_digits *digits, const uint32_t *tables) {
    (void)digits;
    (void)tables;
    return 0;
}
#endif

/* One digit of the keys from the i-th on. Keys that are smaller than a word are made digits of a word at a time: to
 * count a digit takes no longer than to load, shift and mask a key. */
static void DIGITS_NAME(count_one)(const struct key_digits *digits, uint32_t *tables, size_t i) {
    const KEY *keys = digits->keys, flip = (KEY)digits->flip, mask = (KEY)(((uint64_t)1 << digits->bits) - 1);
    const size_t pitch = (size_t)1 << digits->bits;
    const unsigned shift = digits->shift, turns = key_tables(digits->bits, 1);
    uint32_t *const first = tables, *const second = first + (turns > 1 ? pitch : 0);
    uint32_t *const third = first + (turns > 2 ? 2 * pitch : 0), *const fourth = second + (third - first);
#if KEY_IN_WORD > 1
    const uint64_t each = ~(uint64_t)0 / (KEY) ~(KEY)0; /* times a key is that key in all places of a word */
    const uint64_t flips = each * flip, masks = each * (KEY)(mask & ((KEY) ~(KEY)0 >> shift));
    for (uint64_t words[4 / KEY_IN_WORD + 1]; i + 4 <= digits->count && i + KEY_IN_WORD <= digits->count;) {
        enum { AT_ONCE = KEY_IN_WORD > 4 ? KEY_IN_WORD : 4, WORDS = AT_ONCE / KEY_IN_WORD };
        for (unsigned w = 0; w < WORDS; w++) {
            memcpy(&words[w], keys + i + w * KEY_IN_WORD, sizeof words[w]);
            words[w] = ((words[w] ^ flips) >> shift) & masks;
        }
#define IN_WORD(k) ((KEY)(words[(k) / KEY_IN_WORD] >> (k) % KEY_IN_WORD * 8 * sizeof(KEY)))
        COUNT_FOUR(IN_WORD, 0);
#if KEY_IN_WORD == 8
        COUNT_FOUR(IN_WORD, 4);
#endif
#undef IN_WORD
        i += AT_ONCE;
    }
#else
#define IN_KEYS(k) DIGIT_OF(keys[i + (k)])
    for (; i + 4 <= digits->count; i += 4)
        COUNT_FOUR(IN_KEYS, 0);
#undef IN_KEYS
#endif
    for (; i < digits->count; i++)
        first[DIGIT_OF(keys[i])]++;
}

/* Several digits of each key from the first-th on. `number` is a constant wherever this is used. */
INLINE void DIGITS_NAME(count_some)(const struct key_digits *digits, uint32_t *tables, size_t first, unsigned number) {
    const KEY *keys = digits->keys, flip = (KEY)digits->flip;
    const unsigned bits = digits->bits, shift = digits->shift;
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    const size_t count = digits->count;
    for (size_t i = first; i < count; i++) {
        uint64_t rest = (uint64_t)DIGITS_NAME(order)(keys[i], flip) >> shift;
        for (unsigned digit = 0; digit < number; digit++, rest >>= bits)
            tables[((size_t)digit << bits) + (rest & mask)]++;
    }
}

static void DIGITS_NAME(count)(const struct key_digits *digits, uint32_t *tables) {
    const size_t first = DIGITS_NAME(count_blocks)(digits, tables);
    switch (digits->digits) {
    case 1:
        DIGITS_NAME(count_one)(digits, tables, first);
        break;
    case 2:
        DIGITS_NAME(count_some)(digits, tables, first, 2);
        break;
    case 4:
        DIGITS_NAME(count_some)(digits, tables, first, 4);
        break;
    case 8:
        DIGITS_NAME(count_some)(digits, tables, first, 8);
        break;
    default:
        DIGITS_NAME(count_some)(digits, tables, first, digits->digits);
    }
}

/* Blocks are gone through whole, so that they can be by vectors. */
static bool DIGITS_NAME(ascend)(const struct key_digits *digits) {
    enum { BLOCK = 512 };
    const KEY *keys = digits->keys, flip = (KEY)digits->flip, mask = (KEY)(~(uint64_t)0 >> (64 - digits->bits));
    const unsigned shift = digits->shift;
    for (size_t first = 0; first + 1 < digits->count; first += BLOCK) {
        const size_t left = digits->count - 1 - first, end = first + (left < BLOCK ? left : BLOCK);
        KEY descents = 0;
        for (size_t i = first; i < end; i++)
            descents |= DIGIT_OF(keys[i]) > DIGIT_OF(keys[i + 1]);
        if (descents)
            return false;
    }
    return true;
}

/* Moving. `move` is a constant wherever this is used. */
INLINE void DIGITS_NAME(scatter)(const struct key_digits *digits, const struct key_places *to, enum key_move move) {
    const KEY *keys = digits->keys, flip = (KEY)digits->flip, mask = (KEY)(((uint64_t)1 << digits->bits) - 1);
    const unsigned shift = digits->shift;
    uint64_t *places = to->places;
    KEY *out = to->keys;
    for (size_t i = 0; i < digits->count; i++) {
        const uint64_t place = places[DIGIT_OF(keys[i])]++;
        out[place] = keys[i];
        if (move != MOVE_KEYS)
            move_value((char *)to->values + place * move_bytes(move), to, i, move);
    }
}

/* The same by lines. Places are counted from the beginning of a line, `before` elements before the memory they are in,
 * so that an element's place in its line is seen in its number. */
INLINE void DIGITS_NAME(scatter_lines)(const struct key_digits *digits, const struct key_places *to,
                                       enum key_move move) {
    enum { IN_LINE = KEY_LINE / sizeof(KEY) };
    const KEY *keys = digits->keys, flip = (KEY)digits->flip, mask = (KEY)(((uint64_t)1 << digits->bits) - 1);
    const size_t digit_count = (size_t)1 << digits->bits;
    const unsigned shift = digits->shift;
    const size_t value_bytes = move_bytes(move), values_in_line = move == MOVE_KEYS ? 1 : KEY_LINE / value_bytes;
    const size_t before = (uintptr_t)to->keys % KEY_LINE / sizeof(KEY);
    const size_t values_before = move == MOVE_KEYS ? 0 : (uintptr_t)to->values % KEY_LINE / value_bytes;
    const size_t value_shift = values_before - before; /* may wrap, and so back */
    uint64_t *places = to->places, *firsts = to->firsts;
    KEY *lines = (KEY *)(void *)to->key_lines;
    for (size_t digit = 0; digit < digit_count; digit++)
        firsts[digit] = places[digit] += before;
    for (size_t i = 0; i < digits->count; i++) {
        const KEY key = keys[i];
        const size_t digit = DIGIT_OF(key);
        const size_t place = places[digit]++, in_line = place % IN_LINE;
        lines[digit * IN_LINE + in_line] = key;
        if (in_line == IN_LINE - 1)
            write_line(to->keys, &lines[digit * IN_LINE], place, before, firsts[digit], sizeof(KEY), to->stream);
        if (move != MOVE_KEYS) {
            const size_t value_place = place + value_shift, value_in_line = value_place % values_in_line;
            char *line = to->value_lines + digit * KEY_LINE;
            move_value(line + value_in_line * value_bytes, to, i, move);
            if (value_in_line == values_in_line - 1)
                write_line(to->values, line, value_place, values_before, firsts[digit] + value_shift, value_bytes,
                           to->stream);
        }
    }
    for (size_t digit = 0; digit < digit_count; digit++) {
        const size_t end = places[digit];
        write_rest(to->keys, &lines[digit * IN_LINE], end, before, firsts[digit], sizeof(KEY));
        if (move != MOVE_KEYS)
            write_rest(to->values, to->value_lines + digit * KEY_LINE, end + value_shift, values_before,
                       firsts[digit] + value_shift, value_bytes);
        places[digit] = end - before;
    }
    stream_end();
}

#define DEFINE_SCATTER(NAME, MOVE)                                                                                     \
    static void DIGITS_NAME(NAME)(const struct key_digits *digits, const struct key_places *to) {                      \
        if (to->key_lines)                                                                                             \
            DIGITS_NAME(scatter_lines)(digits, to, MOVE);                                                              \
        else                                                                                                           \
            DIGITS_NAME(scatter)(digits, to, MOVE);                                                                    \
    }

DEFINE_SCATTER(scatter_keys, MOVE_KEYS)
DEFINE_SCATTER(scatter_4, MOVE_4)
DEFINE_SCATTER(scatter_8, MOVE_8)
DEFINE_SCATTER(scatter_index_4, MOVE_INDEX_4)
DEFINE_SCATTER(scatter_index_8, MOVE_INDEX_8)

#undef TAG
