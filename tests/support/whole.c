#include "whole.h"

#include "test.h"

struct trial whole_table(struct random *random, table_operation operation, struct type_pair pair, size_t rows,
                         size_t columns) {
    const bool has_start = random_once_in(random, 2);
    return (struct trial){.random = {random_bits(random)},
                          .operation = operation,
                          .in_type = pair.in,
                          .out_type = pair.out,
                          .rows = rows,
                          .columns = columns,
                          .reverse = random_once_in(random, 4),
                          .exclusive = random_once_in(random, 2),
                          .has_start = has_start,
                          .same_carry = has_start && random_once_in(random, 6),
                          .skip_nan = element_is_float(pair.out) && random_once_in(random, 3)};
}

/* Row 0 of the seeds holds the carry; rubbish elsewhere. */
static void open_seeds(struct trial *t, struct table *seeds) {
    const size_t rows = table_seeds_rows(t->out_type, t->rows, t->columns);
    trial_require(t, rows == trial_units(t) + 1, "table_seeds_rows is wrong");
    table_open(seeds, t->way->memory, t->sum_type, rows, t->columns, t->columns, random_below(&t->random, 3),
               random_once_in(&t->random, 2) ? EDGE_FRONT : EDGE_BACK);
    table_randomize(seeds, &t->random, PATTERN_BITS);
    memcpy(seeds->image, trial_sums(t, 0), t->columns * element_size(t->sum_type));
    trial_require(t, table_upload(seeds), "the seeds cannot be written");
}

/* Each stage finds what the one before has left. */
static void sum_by_stages(struct trial *t) {
    const size_t row_bytes = t->columns * element_size(t->sum_type);
    const uint64_t rubbish = 3;
    struct tables tables;
    struct table seeds;
    struct sides sides;
    open_tables(t, &tables, t->way->memory, 0, t->rows, false);
    open_seeds(t, &seeds);
    table_scan_options options = trial_plain_options(t);

    t->form = "stage 1 by itself";
    trial_ok(t, table_stage1_local_counts(&tables.from, &seeds.view, &options));
    memcpy(seeds.image + row_bytes, t->expected.totals, trial_units(t) * row_bytes);
    trial_require_image(t, &seeds, "seeds");

    t->form = "stage 2 by itself";
    trial_ok(t, table_stage2_scan_totals(&seeds.view, &options));
    memcpy(seeds.image, t->expected.seeds, (trial_units(t) + 1) * row_bytes);
    trial_require_image(t, &seeds, "seeds");

    t->form = "stage 3 by itself";
    options.exclusive = t->exclusive;
    if (!element_is_float(t->out_type) && random_once_in(&t->random, 2))
        options.first_overflow = trial_open_side(t, &sides.word, t->way->memory, sizeof rubbish, &rubbish);
    trial_ok(t, table_stage3_global_pass(&tables.from, &seeds.view, &tables.out.view, &options));
    trial_require_image(t, &seeds, "seeds");
    close_tables(t, &tables);
    trial_close_sides(t, &options, &sides);
    table_close(&seeds);
}

void whole_check(const struct trial *table, const struct way *way) {
    const bool has_strategies = !way->fused_alone;
    const struct {
        const char *name;
        void (*sum)(struct trial *t);
        bool is_there;
    } forms[] = {{"one call", sum_here, true},
                 {"one call, carries on the host", sum_with_host_state, way->memory != &host_memory},
                 {"workspace and stream", sum_on_stream, way->direct},
                 {"column totals", feed_totals, has_strategies},
                 {"stages", sum_by_stages, way->direct && has_strategies && table->operation == TABLE_SUM}};
    struct trial t = *table;
    t.way = way;
    way_enter(way);
    trial_open(&t, (enum pattern)random_below(&t.random, PATTERN_COUNT));
    t.piece = t.rows;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) /* most of them: there are thousands of tables */
        if (forms[i].is_there && (i == 0 || !random_once_in(&t.random, 4))) {
            t.form = forms[i].name;
            forms[i].sum(&t);
        }
    trial_close(&t);
}
