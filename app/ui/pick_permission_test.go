package ui

import (
	"slices"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/slash"
)

// TestPermissionPicker: /permissions lists the rules that apply and deletes one after a question.
func TestPermissionPicker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session := action.Rule{Decision: action.Allow, Tool: "run_shell", Prefix: []string{"mkdir"}, Shape: action.Closed, Target: "local", Source: action.FromSession}
		written := action.Rule{Decision: action.Deny, Prefix: []string{"git", "push"}, Source: action.FromUser}
		x := open(t, 120, 32)
		x.Type("/permissions\n")
		x.Want("Rules that apply", "none: the mode alone decides")
		x.Press("Esc")
		x.rules = []slash.Permission{{Rule: written, Place: "/home/ann/config.toml:7"}, {Rule: session}}
		x.Type("/rules\n")
		x.Want("Rules that apply · 2", "deny `git push …`", "/home/ann/config.toml:7", "allow `mkdir …` inside the folder", "until the session ends")
		x.Press("Enter")
		x.Want("also from", "config.toml:7")
		x.Press("n")
		x.took()
		x.Press("Down", "Enter")
		x.Want("Delete the rule")
		x.Press("y")
		x.took(event.RemoveRule{Rule: session})
		x.unwanted("Rules that apply")
		x.Type("/permissions\n")
		x.Press("Enter", "y")
		x.took(event.RemoveRule{Rule: written})
		if !slices.Equal(x.removed, []string{"deny `git push …`"}) || x.noticed != "deleted from config.toml" {
			t.Errorf("removed %q, said %q", x.removed, x.noticed)
		}
		x.Type("/permissions delete 3\n")
		x.Want(`"3" is not the number of a rule`)
		x.took()
	})
}
