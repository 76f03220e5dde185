#include <string.h>

#include "plan/plan_int.h"

/* The date column, its kind, the grain and the zone. */

/* Where to point when the date column is at fault. */
static const SpecPlace *column_place(const Spec *spec) {
  return spec->date_column.text != NULL ? &spec->date_column.place : &spec->target.place;
}

/* The engine cannot work with the column, or not with dates of the kind declared. */
static bool refuse_type(const SpecPlace *place, const char *column, const DateProfile *profile, Error *err) {
  spec_error(err, place, "“%s” %s", column, profile->why_not);
  return error_hint(err, "%s", profile->way_out);
}

/* The only column that looks like a date; none and several are errors that ask. */
static bool find_column(Resolver *resolver, size_t *ret_column, DateLook *ret_look, Error *err) {
  const TableFacts *table = &resolver->table;
  const char **names = arena_array(resolver->arena, table->n_columns, sizeof *names), *refused = NULL;
  DateProfile why = {0};
  size_t n = 0;
  for (size_t i = 0; i < table->n_columns; i++) {
    DateLook look;
    if (table->columns[i].generated) continue;
    if (!plan_date_look(resolver->arena, resolver->engine, table->name, &table->columns[i], false, &look, err))
      return false;
    if (look.refused && refused == NULL) {
      refused = table->columns[i].name;
      why = look.profile;
    }
    if (!look.looks || !plan_date_joins(ret_look->kind, &n, look.kind)) continue;
    names[n++] = table->columns[i].name;
    *ret_column = i;
    *ret_look = look;
  }
  if (n == 1) return true;
  if (n == 0 && refused != NULL) return refuse_type(&resolver->spec->target.place, refused, &why, err);
  if (n == 0) {
    spec_error(err, &resolver->spec->target.place, "no column of %s looks like a date: by which is its day told?",
               table->name);
    return error_hint(err,
                      "name it: date_column: COLUMN, and if it is a number also date_kind: yyyymmdd, yyyymm, "
                      "unix_seconds, unix_millis or julian_day");
  }
  spec_error(err, &resolver->spec->target.place, "%zu columns of %s look like a date: %s", n, table->name,
             plan_join(resolver->arena, names, n));
  return error_hint(err, "say which one tells the day of a row: date_column: %s", names[0]);
}

static bool choose_column(Resolver *resolver, size_t *ret_column, DateLook *ret_look, Error *err) {
  const SpecText *declared = &resolver->spec->date_column;
  if (declared->text == NULL) {
    if (!find_column(resolver, ret_column, ret_look, err)) return false;
    plan_infer(resolver, "date_column", resolver->table.columns[*ret_column].name, "the only date-like column");
  } else {
    *ret_column = plan_column(resolver, declared->text);
    if (*ret_column == resolver->table.n_columns) return plan_no_column(resolver, declared, "the date column", err);
    const ColumnFacts *column = &resolver->table.columns[*ret_column];
    if (!plan_date_look(resolver->arena, resolver->engine, resolver->table.name, column, true, ret_look, err))
      return false;
    plan_infer(resolver, "date_column", column->name, "spec");
  }
  if (resolver->columns[*ret_column].given) return true;
  spec_error(err, column_place(resolver->spec), "the date column “%s” is not given by the recompute",
             resolver->table.columns[*ret_column].name);
  return error_hint(err, "let the recompute give it, under that name; it cannot be preserved or generated");
}

static bool ask_kind(const Resolver *resolver, const char *column, Error *err) {
  spec_error(err, column_place(resolver->spec), "how “%s” holds its dates cannot be told from its type and values",
             column);
  return error_hint(err,
                    "say it: date_kind: date, basic_date, month, timestamp, yyyymmdd, yyyymm, unix_seconds, "
                    "unix_millis or julian_day");
}

static bool choose_kind(Resolver *resolver, const char *column, const DateLook *look, Error *err) {
  DateCodec *codec = &resolver->plan->shape.codec;
  const SpecText *declared = &resolver->spec->date_kind;
  if (declared->text == NULL) {
    if (look->refused) return refuse_type(column_place(resolver->spec), column, &look->profile, err);
    if (!look->known) return ask_kind(resolver, column, err);
    codec->kind = look->kind;
  } else if (!date_kind_parse(declared->text, &codec->kind)) {
    return spec_error(err, &declared->place, "“%s” is not a kind of date", declared->text);
  } else if ((look->profile.kinds >> codec->kind & 1) == 0) {
    return refuse_type(&declared->place, column, &look->profile, err);
  }
  if (codec->kind == TIMESTAMP_TEXT) codec->separator = look->known && look->separator != '\0' ? look->separator : ' ';
  plan_infer(resolver, "date_kind", date_kind_name(codec->kind), declared->text == NULL ? look->from : "spec");
  return true;
}

static bool choose_grain(Resolver *resolver, Error *err) {
  DateCodec *codec = &resolver->plan->shape.codec;
  const SpecText *declared = &resolver->spec->grain;
  codec->grain = date_kind_usual_grain(codec->kind);
  if (declared->text != NULL && !grain_parse(declared->text, &codec->grain))
    return spec_error(err, &declared->place, "“%s” is not a grain", declared->text);
  if (codec->grain < date_kind_grain(codec->kind))
    return spec_error(err, &declared->place, "the grain is %s, but the date column tells no more than the %s",
                      codec->grain == GRAIN_HOUR ? "an hour" : grain_name(codec->grain),
                      grain_name(date_kind_grain(codec->kind)));
  plan_infer(resolver, "grain", grain_name(codec->grain), declared->text == NULL ? "default" : "spec");
  return true;
}

/*
 * Civil dates need no zone to be read: their arithmetic is UTC, and the zone only says when a day is over. For
 * everything else the zone says where midnight falls; an undeclared one that differs from production's is worth a
 * warning, because a day then holds other rows than people think.
 */
static bool choose_zone(Resolver *resolver, Error *err) {
  const Spec *spec = resolver->spec;
  Plan *plan = resolver->plan;
  const Zone *zone = zone_utc();
  const char *from = "default";
  if (spec->zone.text != NULL) {
    if (!zone_open(resolver->arena, spec->zone.text, &zone, err)) return plan_at_place(&spec->zone.place, err);
    from = "spec";
  }
  plan->day_zone = zone;
  plan->shape.codec.zone = date_kind_is_civil(plan->shape.codec.kind) ? zone_utc() : zone;
  const char *production = spec->production.when.zone.text;
  if (spec->zone.text == NULL && production != NULL && strcmp(production, zone_name(zone)) != 0) {
    if (date_kind_is_civil(plan->shape.codec.kind)) {
      if (!zone_open(resolver->arena, production, &plan->day_zone, err))
        return plan_at_place(&spec->production.when.zone.place, err);
      from = "production.zone";
    } else {
      plan_warn(resolver->arena, plan,
                "“%s” holds instants and no zone was declared: its days are cut at midnight UTC, while production "
                "runs by %s; if a day is meant to be local, write zone: %s",
                plan->shape.columns[plan->shape.date].name, production, production);
    }
  }
  plan_infer(resolver, "zone", zone_name(plan->day_zone), from);
  return true;
}

/* A time stamp with an offset of its own: "…+02:00". */
static const char *sample_with_offset(const DateProfile *profile) {
  for (size_t i = 0; i < profile->n_samples; i++) {
    const char *sample = profile->samples[i];
    size_t n = strlen(sample);
    if (n > 16 && sample[n - 3] == ':' && strchr("+-", sample[n - 6]) != NULL && strcmp(sample + n - 6, "+00:00") != 0)
      return sample;
  }
  return NULL;
}

static bool check_samples(const Resolver *resolver, const char *column, const DateLook *look, Error *err) {
  const DateCodec *codec = &resolver->plan->shape.codec;
  const char *bad = plan_bad_sample(codec, &look->profile);
  if (bad != NULL) {
    spec_error(err, column_place(resolver->spec),
               "“%s” holds “%.100s”, which is no date of the kind “%s”: the row's "
               "day would be unknown",
               column, bad, date_kind_name(codec->kind));
    return error_hint(err, "correct such values first, or declare another date_column or date_kind");
  }
  if (!date_kind_is_text(codec->kind) && look->profile.texts > 0) {
    spec_error(err, column_place(resolver->spec), "“%s” holds texts, and dates of the kind “%s” are numbers", column,
               date_kind_name(codec->kind));
    return error_hint(err, "texts of the form YYYYMMDD are of the kind basic_date; make numbers of others first");
  }
  const char *offset = codec->kind == TIMESTAMP_TEXT ? sample_with_offset(&look->profile) : NULL;
  if (offset == NULL) return true;
  spec_error(err, column_place(resolver->spec),
             "“%s” holds “%.100s”: texts with offsets do not sort by time, so no range of them can be cut out", column,
             offset);
  return error_hint(err, "use a date_column that holds UTC or civil dates");
}

bool plan_resolve_dates(Resolver *resolver, Error *err) {
  size_t column = 0;
  DateLook look = {0};
  if (!choose_column(resolver, &column, &look, err)) return false;
  resolver->plan->shape.date = column;
  const char *name = resolver->table.columns[column].name;
  return choose_kind(resolver, name, &look, err) && choose_grain(resolver, err) && choose_zone(resolver, err) &&
         check_samples(resolver, name, &look, err);
}
