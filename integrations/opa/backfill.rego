# A backfill runs only when Tidegate's document says so. Input: what `tidegate hook run opa` prints for a command line:
#   {"tidegate": 1, "decision": "allow" | "ask" | "deny", "message": "…", "reasons": [{"rule", "text", "hint"}]}
#
#   tidegate hook run opa < command.sh | conftest test -p integrations/opa -
#   tidegate hook run opa < command.sh | opa eval --fail -I -d integrations/opa 'data.main.allow == true'
#
# Whatever is not exactly an allow of this version is denied: no document, another one, a field that is missing.
package main

import rego.v1

default allow := false

allow if {
	input.tidegate == 1
	input.decision == "allow"
}

deny contains message if {
	not allow
	message := object.get(object.filter(known, ["message"]), "message", "there is no verdict of Tidegate, so this is denied")
}

known := input if is_object(input)

known := {} if not is_object(input)
