package ui

import (
	"fmt"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
)

// A person tries a command, sees what it would change, and decides; nothing of a conflict is kept.
func TestTryOnScreen(t *testing.T) {
	sed := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "sed -i s/old/new/ *.txt", Mutation: true}
	diff := func(name, old, now string) action.TriedFile {
		return action.TriedFile{Path: name, Preview: fmt.Sprintf("+1 -1 lines, 10 → 10 bytes\n--- %s\n+++ %s\n@@ -1,1 +1,1 @@\n-%s\n+%s\n", name, name, old, now)}
	}
	var many []action.TriedFile
	for i := range 12 {
		many = append(many, diff(fmt.Sprintf("s%d.txt", i), "an old line", "a new line"))
	}
	asks := func(id string, c action.ApprovalContext) event.ApprovalAsked {
		c.Risk = action.Medium
		return event.ApprovalAsked{ID: id, CallID: "c1", Action: sed, Context: c}
	}
	for _, size := range [][2]int{{120, 32}, {80, 24}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, size[0], size[1])
				next := func(asked event.ApprovalAsked, golden, key string, want event.Decision) {
					t.Helper()
					x.feed(asked)
					x.rest()
					if golden != "" {
						x.golden(golden)
						x.decide("PgDn")
						x.rest()
					}
					x.decide(key)
					x.rest()
					if want != "" {
						x.wantSent(event.AnswerApproval{ID: asked.ID, Decision: want})
						x.feed(event.ApprovalAnswered{ID: asked.ID, CallID: "c1", Decision: want, By: "user"})
					}
				}
				x.feed(running...)
				next(asks("a1", action.ApprovalContext{Effect: action.Effect{Verb: "changes", Object: "files"}, Try: action.Try{Offered: true}}), "try-offered", "t", event.Try)
				x.rest()
				x.golden("try-running")
				next(asks("a2", action.ApprovalContext{Tried: &action.Tried{Running: true, TookMS: 60_000, LimitMS: 60_000}}), "try-waits", "1", event.Try)
				tried := action.Tried{TookMS: 312, Files: many[:2], Count: 2, Added: 2, Deleted: 2, Output: "2 files\ndone"}
				next(asks("a3", action.ApprovalContext{Tried: &tried}), "try-result", "y", event.Keep)
				tried.Conflicts = []string{"s1.txt"}
				next(asks("a4", action.ApprovalContext{Tried: &tried}), "try-conflict", "1", event.Try)
				doubtful := action.Tried{Code: 1, TookMS: 4500, Files: many[:1], Count: 1, Added: 1, Deleted: 1, Names: []string{"packages.example.com"}, Doubts: []string{"it ended with exit code 1", `it said "EXDEV"`}}
				next(asks("a5", action.ApprovalContext{Tried: &doubtful}), "try-doubts", "r", event.Once)
				long := asks("a6", action.ApprovalContext{Tried: &action.Tried{TookMS: 312, Files: many, Count: 12, Added: 12, Deleted: 12}})
				next(long, "", "1", "") // the end of the list was not on the screen
				x.Want("you haven't seen the whole request yet")
				x.decide("d")
				x.Type("leave s3 alone")
				x.rest()
				x.decide("Enter")
				x.wantSent(event.AnswerApproval{ID: "a6", Decision: event.Deny, Reason: "leave s3 alone"})
			})
		})
	}
}
