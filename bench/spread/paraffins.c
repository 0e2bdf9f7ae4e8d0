/* As paraffins.hs, with memory from one large area, as the faster of the two C programs of [FN96, §4]. The molecules of
   one way to divide a size are made as a list and then counted, and the next ones take their place. */
#include <stdio.h>
#include <stdlib.h>

#define MOST 40

typedef struct Radical {
    const struct Radical *a, *b, *c;
} Radical;

typedef struct Paraffin {
    const Radical *a, *b, *c, *d;
    struct Paraffin *next;
} Paraffin;

typedef struct {
    const Radical **at;
    size_t count, room;
} Table;

static const Radical hydrogen;
static Table table[MOST];

/* Pages of the area are backed when they are touched. */
static const size_t AREA = (size_t)4 << 30;
static char *area;
static size_t used, radicals_end;

static void *allocate(size_t bytes) {
    if (used + bytes > AREA) {
        exit(1);
    }
    void *p = area + used;
    used += bytes;
    return p;
}

static void add(Table *t, const Radical *r) {
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 16;
        t->at = realloc(t->at, t->room * sizeof *t->at);
    }
    t->at[t->count++] = r;
}

static void make_radicals(int n) {
    for (int i = 0; i <= (n - 1) / 3; i++) {
        for (int j = i; j <= (n - 1 - i) / 2; j++) {
            int k = n - 1 - i - j;
            for (size_t a = 0; a < table[i].count; a++) {
                for (size_t b = j == i ? a : 0; b < table[j].count; b++) {
                    for (size_t c = k == j ? b : 0; c < table[k].count; c++) {
                        Radical *r = allocate(sizeof *r);
                        *r = (Radical){table[i].at[a], table[j].at[b], table[k].at[c]};
                        add(&table[n], r);
                    }
                }
            }
        }
    }
}

static Paraffin *cons(const Radical *a, const Radical *b, const Radical *c, const Radical *d, Paraffin *next) {
    Paraffin *p = allocate(sizeof *p);
    *p = (Paraffin){a, b, c, d, next};
    return p;
}

static Paraffin *centered(int i, int j, int k, int l) {
    Paraffin *all = NULL;
    for (size_t a = 0; a < table[i].count; a++) {
        for (size_t b = j == i ? a : 0; b < table[j].count; b++) {
            for (size_t c = k == j ? b : 0; c < table[k].count; c++) {
                for (size_t d = l == k ? c : 0; d < table[l].count; d++) {
                    all = cons(table[i].at[a], table[j].at[b], table[k].at[c], table[l].at[d], all);
                }
            }
        }
    }
    return all;
}

static Paraffin *halves(int n) {
    Paraffin *all = NULL;
    if (n % 2 == 0) {
        const Table *t = &table[n / 2];
        for (size_t a = 0; a < t->count; a++) {
            for (size_t b = a; b < t->count; b++) {
                all = cons(t->at[a], t->at[b], NULL, NULL, all);
            }
        }
    }
    return all;
}

static long count, ends;

/* Counts them, and gives back their memory. */
static void count_all(const Paraffin *all) {
    for (const Paraffin *p = all; p; p = p->next) {
        count++;
        ends += p->a == &hydrogen || (!p->c && p->b == &hydrogen);
    }
    used = radicals_end;
}

int main(int argc, char **argv) {
    int most = argc > 1 ? atoi(argv[1]) : 18;
    if (most / 2 >= MOST) {
        return 1;
    }
    area = malloc(AREA);
    if (!area) {
        return 1;
    }
    add(&table[0], &hydrogen);
    for (int n = 1; n <= most / 2; n++) {
        make_radicals(n);
    }
    radicals_end = used;
    for (int n = 1; n <= most; n++) {
        count = ends = 0;
        count_all(halves(n));
        for (int i = 0; i <= (n - 1) / 4; i++) {
            for (int j = i; j <= (n - 1 - i) / 3; j++) {
                int least = n - 1 - i - j - (n - 1) / 2;
                for (int k = least > j ? least : j; k <= (n - 1 - i - j) / 2; k++) {
                    count_all(centered(i, j, k, n - 1 - i - j - k));
                }
            }
        }
        printf("%d %ld %ld\n", n, count, ends);
    }
    return 0;
}
