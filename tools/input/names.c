/* Which of the tables in a file is meant. */
#include <stdio.h>
#include <string.h>

#include "input/file.h"
#include "message.h"

struct input_names input_names_begin(const char *member) {
    return (struct input_names){.guess = guess_what(member ? member : "", member ? strlen(member) : 0)};
}

void input_names_add(struct input_names *names, const char *name, size_t length) {
    const size_t used = strlen(names->text), room = sizeof names->text - used;
    if (room > length + 8)
        snprintf(names->text + used, room, "%s%.*s", names->count > 0 ? ", " : "", (int)length, name);
    else if (room > 8 && !names->cut)
        snprintf(names->text + used, room, ", ...");
    names->cut = names->cut || room <= length + 8;
    names->count++;
    guess_consider_part(&names->guess, name, length);
}

bool input_names_reason(const char *member, const struct input_names *names, struct input_reason *reason) {
    if (names->count == 0)
        return input_refuse(reason, EX_DATAERR, "has no tables in it");
    char meant[GUESS_LONGEST + 1];
    guess_name(&names->guess, meant);
    if (*meant)
        return input_refuse(reason, EX_USAGE, "has no '%s'; did you mean '%s'? There are: %s", member, meant,
                            names->text);
    return member ? input_refuse(reason, EX_USAGE, "has no '%s'; there are: %s", member, names->text)
                  : input_refuse(reason, EX_USAGE, "has %zu tables, and --member says which: %s", names->count,
                                 names->text);
}

size_t input_safetensors_header(const unsigned char *bytes, size_t count) {
    enum { MOST = 100000000 }; /* by the format's rules */
    size_t length = 0;
    if (count < INPUT_TENSORS_LEAST)
        return 0;
    for (unsigned i = INPUT_TENSORS_LEAST; i-- > 0;)
        length = length << 8 | bytes[i];
    return length <= MOST ? INPUT_TENSORS_LEAST + length : 0;
}
