#include "view/layout.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <graphviz/gvc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

/*
 * Graphviz is loaded when a picture is drawn, and not with the program: linked, it added more than half a millisecond
 * to every start (docs/decisions/0027).
 */

enum { POINTS = 72, TOO_MANY = 3000, MOST_SECONDS = 60 };

/* What is used of it; its headers say the types. */
typedef struct Graphviz {
  void *library;
  GVC_t *context;
  Agraph_t *graph;
  __typeof__(gvContext) *context_new;
  __typeof__(gvLayout) *layout;
  __typeof__(gvRender) *render;
  __typeof__(agmemread) *read;
  __typeof__(agget) *get;
  __typeof__(agnode) *node;
  __typeof__(agedge) *edge;
} Graphviz;

static bool load(Graphviz *ret, Error *err) {
  static const char *const libraries[] = {"libgvc.so.6", "libgvc.so.7", "libgvc.so"};
  Graphviz it = {0};
  for (size_t i = 0; it.library == NULL && i < sizeof libraries / sizeof *libraries; i++)
    it.library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
  if (it.library == NULL) {
    error_set(err, ERR_USAGE, "a picture is drawn by Graphviz, and its library libgvc is not on this machine");
    return error_hint(err, "install it (Debian: libgvc6), or take the graph as text: --format dot or --format mermaid");
  }
  const struct {
    const char *name;
    void *to;
  } wanted[] = {{"gvContext", &it.context_new},
                {"gvLayout", &it.layout},
                {"gvRender", &it.render},
                {"agmemread", &it.read},
                {"agget", &it.get},
                {"agnode", &it.node},
                {"agedge", &it.edge}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    void *found = dlsym(it.library, wanted[i].name);
    if (found == NULL)
      return error_set(err, ERR_USAGE, "the Graphviz of this machine has no %s: it is too old or too new",
                       wanted[i].name);
    memcpy(wanted[i].to, &found, sizeof found); /* an object pointer that holds a function, as POSIX has it */
  }
  *ret = it;
  return true;
}

/* The question: boxes b0, b1 …, arrows a0, a1 …, a line a layer. */
static void put_question(Buf *out, const Layout *layout) {
  int last = 0;
  for (size_t i = 0; i < layout->n; i++)
    if (layout->boxes[i].layer > last) last = layout->boxes[i].layer;
  buf_puts(out,
           "digraph{rankdir=LR nodesep=0.17 ranksep=0.7 outputorder=nodesfirst charset=\"UTF-8\"\n"
           "node[shape=box fixedsize=true label=\"\"] edge[label=\"\" arrowsize=0.7]\n");
  for (size_t i = 0; i < layout->n; i++)
    buf_printf(out, "b%zu[width=%.3f height=%.3f]\n", i, layout->boxes[i].width / POINTS,
               layout->boxes[i].height / POINTS);
  for (int layer = 0; layer <= last; layer++) {
    buf_puts(out, "{rank=same");
    for (size_t i = 0; i < layout->n; i++)
      if (layout->boxes[i].layer == layer) buf_printf(out, " b%zu", i);
    buf_puts(out, "}\n");
  }
  for (size_t i = 0; i < layout->n_arrows; i++)
    buf_printf(out, "b%zu->b%zu[key=a%zu%s]\n", layout->arrows[i].from, layout->arrows[i].to, i,
               layout->arrows[i].back ? " constraint=false" : " tailport=e headport=w");
  buf_puts(out, "}\n");
}

/* "e,x,y x,y x,y …": the tip first, then the points of the curve. */
static const char *path_of(Arena *arena, const char *at, double height) {
  BUF_SCOPED out = {0};
  double x, y, tip_x = 0, tip_y = 0;
  bool tip = false;
  int used;
  while (at != NULL && *at != '\0') {
    while (*at == ' ') at++;
    if ((at[0] == 'e' || at[0] == 's') && at[1] == ',') {
      if (sscanf(at + 2, "%lf,%lf%n", &x, &y, &used) != 2) return NULL;
      if (at[0] == 'e') tip_x = x, tip_y = y, tip = true;
      at += 2 + used;
      continue;
    }
    if (sscanf(at, "%lf,%lf%n", &x, &y, &used) != 2) break;
    buf_printf(&out, "%s%.1f %.1f",
               out.len == 0                          ? "M"
               : strchr(buf_text(&out), 'C') == NULL ? " C"
                                                     : " ",
               x, height - y);
    at += used;
    if (*at == ';') break; /* one curve is enough */
  }
  if (out.len == 0) return NULL;
  if (tip) buf_printf(&out, " L%.1f %.1f", tip_x, height - tip_y);
  return arena_strdup(arena, buf_text(&out));
}

/* ---- in a process of its own ------------------------------------------------------------------------------------- */

/* One line a question: the whole's box, each box's place, each arrow's course; empty where there is none. */
static bool put_answer(FILE *out, const Graphviz *it, const Layout *layout) {
  char name[32], from[32], to[32];
  const char *text = it->get(it->graph, (char[]){"bb"});
  fprintf(out, "%s\n", text == NULL ? "" : text);
  for (size_t i = 0; i < layout->n; i++) {
    snprintf(name, sizeof name, "b%zu", i);
    Agnode_t *node = it->node(it->graph, name, 0);
    text = node == NULL ? NULL : it->get(node, (char[]){"pos"});
    fprintf(out, "%s\n", text == NULL ? "" : text);
  }
  for (size_t i = 0; i < layout->n_arrows; i++) {
    snprintf(name, sizeof name, "a%zu", i);
    snprintf(from, sizeof from, "b%zu", layout->arrows[i].from);
    snprintf(to, sizeof to, "b%zu", layout->arrows[i].to);
    Agedge_t *edge = it->edge(it->graph, it->node(it->graph, from, 0), it->node(it->graph, to, 0), name, 0);
    text = edge == NULL ? NULL : it->get(edge, (char[]){"pos"});
    fprintf(out, "%s\n", text == NULL ? "" : text);
  }
  return fflush(out) == 0 && !ferror(out);
}

/* Never returns: what Graphviz keeps, leaks or prints ends with the process, and so does a layout that takes too long.
 * No descriptor of a database is touched. */
static _Noreturn void lay_out(Graphviz *it, const Layout *layout, int to) {
  BUF_SCOPED question = {0};
  FILE *out = fdopen(to, "w");
  int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (out == NULL || nowhere < 0 || dup2(nowhere, STDERR_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0) _exit(1);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  alarm(MOST_SECONDS);
  put_question(&question, layout);
  it->context = it->context_new();
  it->graph = it->context == NULL ? NULL : it->read(buf_text(&question));
  bool ok = it->graph != NULL && it->layout(it->context, it->graph, "dot") == 0 &&
            it->render(it->context, it->graph, "dot", NULL) == 0 && put_answer(out, it, layout);
  _exit(ok ? 0 : 1);
}

static void read_all(int from, Buf *ret) {
  char piece[65536];
  for (ssize_t n; (n = read(from, piece, sizeof piece)) != 0;) {
    if (n < 0 && errno != EINTR) return;
    if (n > 0) buf_append(ret, piece, (size_t)n);
  }
}

static bool ask(Graphviz *it, const Layout *layout, Buf *ret) {
  int ends[2], status = 0;
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pid_t child = fork();
  if (child == 0) lay_out(it, layout, ends[1]);
  close(ends[1]);
  if (child > 0) read_all(ends[0], ret);
  close(ends[0]);
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool read_answer(Arena *arena, char *text, Layout *layout) {
  double left, bottom;
  char *line = strsep(&text, "\n");
  if (line == NULL || sscanf(line, "%lf,%lf,%lf,%lf", &left, &bottom, &layout->width, &layout->height) != 4)
    return false;
  for (size_t i = 0; i < layout->n; i++) {
    LayoutBox *box = &layout->boxes[i];
    line = strsep(&text, "\n");
    if (line == NULL || sscanf(line, "%lf,%lf", &box->x, &box->y) != 2) return false;
    box->y = layout->height - box->y;
  }
  for (size_t i = 0; i < layout->n_arrows; i++) {
    line = strsep(&text, "\n");
    if (line == NULL) return false;
    layout->arrows[i].path = path_of(arena, line, layout->height);
  }
  return true;
}

bool layout_possible(void) { return true; }

bool layout_fill(Arena *arena, Layout *layout, Error *err) {
  BUF_SCOPED answer = {0};
  Graphviz it = {0};
  if (layout->n > TOO_MANY || layout->n_arrows > 4 * TOO_MANY) {
    error_set(err, ERR_USAGE, "a picture of %zu boxes and %zu arrows cannot be read, and takes hours to draw",
              layout->n, layout->n_arrows);
    return error_hint(err, "leave --all out: what is wide or deep is shown as one box then");
  }
  if (!load(&it, err)) return false;
  buf_reserve(&answer, 1);
  if (ask(&it, layout, &answer) && read_answer(arena, answer.data, layout)) return true;
  error_set(err, ERR_USAGE, "Graphviz could not lay the picture out within %d seconds", MOST_SECONDS);
  return error_hint(err, "take the graph as text: --format dot or --format mermaid");
}
