# Judges each line before it is accepted, and, in lines that were judged harmless, what aliases and functions make of them.
__tidegate_names() { [[ ${1//[\"\'\\]/} == *(airflow|dbt|sqlmesh|dagster|prefect|bqetl|luigi|flyte|kestra|mage|spark|backfill|psql|sqlite|duckdb|snow|clickhouse|mysql|curl|wget|http|xh |bq |astro|composer|mwaa|\$)* ]] }
# Shows it below the line that is edited, or on the terminal.
__tidegate_tell() {
  if [[ -n ${WIDGET-} ]]; then zle -M "$1"; else print -u2 -r -- "$1"; fi
}
__tidegate_judge() {
  local said code
  said=$(@TIDEGATE@ hook run zsh 2>&1 <<<"$1")
  code=$?
  if (( code == 0 )); then
    [[ $said != allowed* ]] || __tidegate_allowed=$HISTCMD
    return 0
  fi
  if (( code != 3 )); then
    __tidegate_names "$1" || return 0
    said="tidegate: not run, because it could not be judged (exit status $code of "@TIDEGATE@")"
  fi
  __tidegate_tell "$said"
  return 1
}
__tidegate_accept() {
  emulate -L zsh
  local text=$PREBUFFER$BUFFER
  __tidegate_text=''
  if [[ $text == *[^[:space:]]* ]]; then
    __tidegate_judge "$text" || return 1 # the line stays in the editor
    __tidegate_text=${text//[[:space:]]/}
  fi
  zle .$WIDGET
}
() {
  local widget
  for widget in accept-line accept-and-hold accept-line-and-down-history accept-and-infer-next-history; do
    zle -N $widget __tidegate_accept
  done
}
if (( $+functions[TRAPDEBUG] )) && [[ $functions[TRAPDEBUG] != *__tidegate_judge* ]]; then
  functions -c TRAPDEBUG __tidegate_before
fi
setopt DEBUG_BEFORE_CMD
TRAPDEBUG() {
  local text=$ZSH_DEBUG_CMD
  if [[ -z ${WIDGET-} && $text != __tidegate_* && ${__tidegate_allowed-} != $HISTCMD &&
    ${__tidegate_text-} != *"${text//[[:space:]]/}"* ]] && __tidegate_names "$text"; then # else judged with its line
    __tidegate_judge "$text" || { setopt ERR_EXIT; return 0 } # what it stands before is then not run
  fi
  (( ! $+functions[__tidegate_before] )) || __tidegate_before
}
