package ui

import (
	"fmt"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
)

// A denial with a reason: the dialog shows what will be remembered and where before the key that does it, and the next
// approval shows the rule.
func TestADenialTeachesOnTheScreen(t *testing.T) {
	npm := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "npm install left-pad", Mutation: true}
	for _, size := range [][2]int{{120, 32}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, size[0], size[1])
				teaches := action.Memory{Scopes: []string{"folder", "person", "team"}, Begins: "Not `npm install`: "}
				x.feed(running...)
				x.feed(event.ApprovalAsked{ID: "a1", CallID: "c1", Action: npm, Context: action.ApprovalContext{Memory: teaches}})
				x.rest()
				x.decide("d")
				x.Type("use pnpm")
				x.rest()
				x.decide("Tab")
				x.Want("Remembers for this project")
				x.golden("denial-teaches")
				x.decide("Enter")
				x.wantSent(event.AnswerApproval{ID: "a1", Decision: event.Deny, Reason: "use pnpm", Remember: "folder"})
				teaches.Noted = []string{"in this folder: Not `npm install`: use pnpm. (c-qr5k)"}
				x.feed(event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Deny, By: "user", Reason: "use pnpm", Remember: "folder"},
					event.Notice{Text: "remembered in this folder: Not `npm install`: use pnpm. (/memory undo)", Code: "memory"},
					event.ToolRequested{CallID: "c2", Name: "run_shell", Action: npm},
					event.ApprovalAsked{ID: "a2", CallID: "c2", Action: npm, Context: action.ApprovalContext{Memory: teaches}})
				x.rest()
				x.Want("Noted in this folder:")
				x.golden("denial-taught")
			})
		})
	}
}
