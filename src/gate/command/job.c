#include <string.h>
#include <strings.h>

#include "gate/command/command_int.h"

/* A command of Airflow's only asks for the work: the runs of its DAG are the tool's own. What other tools do themselves
 * is told from a job by their processes and sessions. */
static bool starts(const char *name, const SpecLive *live, const SpecJob *job, const Trigger *trigger) {
  if (live->airflow.url.text == NULL || strncasecmp(trigger->system, "airflow", strlen("airflow")) != 0) return false;
  if (job != NULL) return command_stands_for(job, trigger, name);
  return live->airflow.dag.text != NULL && strcmp(live->airflow.dag.text, name) == 0;
}

const char *command_job(Arena *arena, const Spec *spec, const char *text) {
  TriggerReport report = trigger_classify_apart(arena, text, strlen(text));
  for (size_t i = 0; i < report.n; i++) {
    const Trigger *trigger = &report.items[i];
    char *names = arena_strdup(arena, trigger->target == NULL ? "" : trigger->target), *rest = NULL;
    for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
      for (size_t k = 0; k < spec->n_jobs; k++)
        if (starts(name, &spec->jobs[k].live, &spec->jobs[k], trigger)) return spec->jobs[k].name.text;
      if (starts(name, &spec->production.live, NULL, trigger)) return "production";
    }
  }
  return NULL;
}
