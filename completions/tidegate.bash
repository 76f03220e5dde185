# bash completion of tidegate, made by script/docs from the program itself.
_tidegate() {
  local word=${COMP_WORDS[COMP_CWORD]} command= words i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }
  done
  case $command in
    '') words='--version --database --json --no-color --quiet --help init scan plan run diff swap cascade rollback finish discard backfill snapshot check restore impact window status runbook gate hook doctor schedule help version' ;;
    init) words=' --jobs --job --weeks --user --password-env --token-env --database --json --no-color --quiet --help' ;;
    scan) words=' --range --database --json --no-color --quiet --help' ;;
    plan) words=' --require-lineage --database --json --no-color --quiet --help' ;;
    run) words=' --wait --no-wait --database --json --no-color --quiet --help' ;;
    diff) words=' --date --limit --database --json --no-color --quiet --help' ;;
    swap) words=' --yes --database --json --no-color --quiet --help' ;;
    cascade) words=' --dry-run --yes --done --no-wait --database --json --no-color --quiet --help' ;;
    rollback) words=' --keep-later --overwrite-later --database --json --no-color --quiet --help' ;;
    finish) words=' --early --database --json --no-color --quiet --help' ;;
    discard) words=' --database --json --no-color --quiet --help' ;;
    backfill) words=' --yes --no-wait --database --json --no-color --quiet --help' ;;
    snapshot) words=' --then --starts --per-batch --no-wait --database --json --no-color --quiet --help' ;;
    check) words=' --database --json --no-color --quiet --help' ;;
    restore) words=' --database --json --no-color --quiet --help' ;;
    impact) words=' --range --columns --upstream --all --format --output --database --json --no-color --quiet --help' ;;
    window) words=' --count --from --svg --database --json --no-color --quiet --help' ;;
    status) words=' --database --json --no-color --quiet --help' ;;
    runbook) words=' --format --output --check --database --json --no-color --quiet --help' ;;
    gate) words=' --command --place --override --draft --last --classify --database --json --no-color --quiet --help' ;;
    hook) words=' --user --project --database --json --no-color --quiet --help' ;;
    doctor) words=' --grant --publish --database --json --no-color --quiet --help' ;;
    schedule) words=' --dialect --zone --from --count --gap --overlap --day-and --interval --p95 --guard --jitter --start --end --database --json --no-color --quiet --help' ;;
    help) words=' --database --json --no-color --quiet --help init scan plan run diff swap cascade rollback finish discard backfill snapshot check restore impact window status runbook gate hook doctor schedule help version' ;;
    version) words=' --database --json --no-color --quiet --help' ;;
    *) words= ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _tidegate tidegate
