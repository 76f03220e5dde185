# A backfill runs only when Tidegate's document says so. Input: what `tidegate hook run opa` prints for a command line:
#   {"tidegate": 1, "decision": "allow" | "ask" | "deny", "message": "…", "reasons": [{"rule", "text", "hint"}]}
#
#   set -o pipefail
#   tidegate hook run opa < command.sh | conftest test -p integrations/opa -
#   tidegate hook run opa < command.sh | opa eval --fail-defined -I -d integrations/opa 'data.main.deny[_]'
#
# Whatever is not exactly an allow of this version is denied: no input, another document, a field that is missing.
package main

import rego.v1

default allow := false

allow if {
	input.tidegate == 1
	input.decision == "allow"
}

has_message if is_string(input.message)

deny contains input.message if {
	not allow
	has_message
}

deny contains "there is no verdict of Tidegate, so this is denied" if {
	not allow
	not has_message
}
