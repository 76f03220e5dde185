# What script/check, script/check-airflow and script/check-dbt share; they source it in the project's folder. Every step
# runs even if one before it failed; the logs are in build-logs. The last line is the count, and right before it stands
# whatever did not pass at the first try.
#
# A test that fails beside others may have been disturbed by them (docs/decisions/0030-a-second-try.md), so it is run once
# more by itself. Passes it then, it counts, and is called UNSTEADY: a fault to be looked for.
# shellcheck shell=bash

exec </dev/null
export LC_ALL=C.UTF-8 UBSAN_OPTIONS=print_stacktrace=1
mkdir -p build-logs
passed=0 failed=0 job='' not_well=()
trap 'kill $job 2>/dev/null; exit 143' HUP INT TERM

# told VERDICT NAME SECONDS counts it.
told() {
  printf '%-8s %-40s %4d s\n' "$@"
  if [ "$1" = FAILED ]; then failed=$((failed + 1)); else passed=$((passed + 1)); fi
  [ "$1" = ok ] || not_well+=("$1 $2")
}

# logged LOG COMMAND… shows the end of what it said when it failed.
logged() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 &
  job=$!
  wait $job || { tail -n 60 "$log"; return 1; }
}

check() {
  local name=$1 start=$SECONDS log=build-logs/${1// /-}.log
  shift
  if logged "$log" "$@"; then told ok "$name" $((SECONDS - start)); else told FAILED "$name" $((SECONDS - start)); return 1; fi
}

# The same with a second try.
check_twice() {
  local name=$1 start=$SECONDS log=build-logs/${1// /-}
  shift
  if logged "$log.log" "$@"; then
    told ok "$name" $((SECONDS - start))
  elif logged "$log-again.log" "$@"; then
    told UNSTEADY "$name" $((SECONDS - start))
  else
    told FAILED "$name" $((SECONDS - start))
  fi
}

finish() {
  [ ${#not_well[@]} -eq 0 ] || printf '%s\n' "${not_well[@]}"
  echo "$passed passed, $failed failed"
  [ $failed -eq 0 ]
}

# What is held against real programs: the sanitized build of script/check where there is one, else the ordinary one.
binary=build/src/tidegate
[ ! -f build-gcc/build.ninja ] || binary=build-gcc/src/tidegate
build_binary() { if [ $binary = build/src/tidegate ]; then script/build; else ninja -C build-gcc src/tidegate; fi; }
