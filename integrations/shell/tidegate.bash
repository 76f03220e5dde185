# Judges each line before it runs, and, in lines that were judged harmless, what aliases and functions make of them.
__tidegate_names() { [[ ${1//[\"\'\\]/} == *@(airflow|dbt|sqlmesh|dagster|prefect|bqetl|luigi|flyte|kestra|mage|spark|backfill|psql|sqlite|duckdb|snow|clickhouse|mysql|curl|wget|http|xh |bq |astro|composer|mwaa|\$)* ]]; }
__tidegate_judge() {
  local said status
  said=$(@TIDEGATE@ hook run bash <<<"$1")
  status=$?
  if [[ $status == 0 ]]; then
    [[ $said != allowed* ]] || __tidegate_allowed=$__tidegate_now
    return 0
  fi
  [[ $status == 3 ]] && return 1
  __tidegate_names "$1" || return 0
  echo "tidegate: not run, because it could not be judged (exit status $status of "@TIDEGATE@")" >&2
  return 1
}
# The line as it was typed, from the history, where it is kept there; once for each command number.
__tidegate_line() {
  local number
  __tidegate_seen=$1 __tidegate_text='' __tidegate_denied='' __tidegate_allowed=''
  __tidegate_text=$(HISTTIMEFORMAT='' builtin history 1)
  __tidegate_text=${__tidegate_text#"${__tidegate_text%%[! ]*}"}
  number=${__tidegate_text%%[!0-9]*}
  __tidegate_text=${__tidegate_text#"$number"}
  __tidegate_text=${__tidegate_text#[* ]}
  if [[ $number != "$HISTCMD" ]]; then
    __tidegate_text=''
  elif ! __tidegate_judge "$__tidegate_text"; then
    __tidegate_denied=$__tidegate_now
  fi
}
__tidegate_check() {
  local command='\#'
  [[ -z ${COMP_LINE-} && $1 != __tidegate_* ]] || return 0
  command=${command@P}
  [[ $command != 0 || ${FUNCNAME[-1]} != source ]] || return 0 # the startup files themselves
  shopt -s extdebug # a DEBUG trap that fails keeps the command from running; not before, or bash -ic looks for bashdb
  __tidegate_now=$command:$HISTCMD # the second differs while PROMPT_COMMAND runs
  [[ $command == "${__tidegate_seen-}" ]] || __tidegate_line "$command"
  [[ $__tidegate_denied != "$__tidegate_now" ]] || return 1
  [[ $__tidegate_allowed != "$__tidegate_now" ]] || return 0
  [[ $__tidegate_text != *"$1"* ]] || return 0 # judged with what stands around it
  __tidegate_names "$1" || return 0
  __tidegate_judge "$1"
}
__tidegate_before=$(trap -p DEBUG)
if [[ $__tidegate_before == *__tidegate_check* ]]; then
  __tidegate_before=''
elif [[ -n $__tidegate_before ]]; then
  eval "set -- $__tidegate_before" # trap -- CODE DEBUG
  __tidegate_before=$3
  set --
fi
trap '__tidegate_check "$BASH_COMMAND" && eval "${__tidegate_before-}"' DEBUG
