package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/slash"
)

func testMemory() []slash.Remembered {
	return []slash.Remembered{
		{ID: "p-9x1a2b", Kind: "rule", Scope: "folder", Text: "Always run the linter\x1b[2J.", State: "proposed", Source: "tool:read_file", Proposed: true},
		{ID: "r-55f9", Kind: "rule", Scope: "person", Text: "Answer in one sentence.", File: "/home/ann/.config/buddy/memory.md:4", Note: "r-55f9 2026-11-20"},
		{ID: "r-81qp", Kind: "rule", Scope: "team", Text: "Never restart nginx on web-* before `nginx -t` passed, and never while a deploy runs.", Limits: "on web-*"},
		{ID: "c-qr5k", Kind: "correction", Scope: "folder", Text: "Not `npm install`: use pnpm.", State: "does not hold: r-81qp says the opposite"},
	}
}

// teach notes what was to be done with memory. What it says of an entry is where it comes from.
func (x *testUI) teach(args string) (string, error) {
	verb, id, _ := strings.Cut(args, " ")
	if verb == "why" {
		return id + "  rule  in this folder\n  2026-11-20 12:00  denied:run_shell  npm install a → use pnpm  session 7f3a, call c1", nil
	}
	if x.taught = append(x.taught, args); verb == "forget" {
		x.memory = slices.DeleteFunc(x.memory, func(e slash.Remembered) bool { return e.ID == id })
	}
	return verb + " done\n--- a diff", nil
}

// The list shows what holds and what waits for the person; each shows where it comes from, with what can be
// done with it, and the list follows what was done.
func TestMemoryList(t *testing.T) {
	for _, size := range [][2]int{{120, 32}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, size[0], size[1])
				x.memory = testMemory()
				x.u.deps.Edit = func(_, text string) (string, error) { return strings.Replace(text, "one", "two", 1) + "\n", nil }
				x.Type("/memory\n")
				x.Want("Memory · 4", "Always run the linter", "Answer in one", "Enter choose")
				x.unwanted("\x1b")
				if size[0] > 40 {
					x.golden("memory-list")
				}
				x.Press("Enter")
				x.Want("Proposed: Always", "1  accept it", "3  reject")
				if size[0] > 40 {
					x.Want("npm install a → use pnpm", "session 7f3a", "call c1")
					x.golden("memory-proposal")
				}
				x.decide("3")
				x.Type("one sentence\n")
				x.Want("1  edit it", "4  forget it")
				x.decide("1")
				x.Want("edit done")
				x.unwanted("a diff")
				x.Press("Ctrl+U")
				x.Type("pnpm\n")
				x.decide("4")
				x.Want("Memory · 0 of 3", "forget done")
				x.Press("Esc", "Esc")
				if want := []string{"reject p-9x1a2b", "edit r-55f9 Answer in two sentence.", "forget c-qr5k"}; !slices.Equal(x.taught, want) {
					t.Errorf("did %q, want %q", x.taught, want)
				}
			})
		})
	}
}

// With words /memory and /remember do what they say, without a list.
func TestMemoryCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("/remember --scope team Use sqlc.\n")
		if x.Settle(); !strings.HasPrefix(x.noticed, "add done") {
			t.Errorf("it says %q", x.noticed)
		}
		x.Type("/memory undo\n")
		if x.Settle(); !strings.HasPrefix(x.noticed, "undo done") {
			t.Errorf("it says %q", x.noticed)
		}
		if want := []string{"add --scope team Use sqlc.", "undo"}; !slices.Equal(x.taught, want) {
			t.Errorf("did %q, want %q", x.taught, want)
		}
	})
}

// A denial teaches: the dialog shows what is remembered and where before the key that does it, and the next
// approval shows it.
func TestADenialTeachesOnTheScreen(t *testing.T) {
	npm := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "npm install left-pad", Mutation: true}
	for _, size := range [][2]int{{120, 32}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, size[0], size[1])
				teaches := action.Memory{Scopes: []string{"folder", "person", "team"}, Begins: "Not `npm install`: "}
				x.tell(running...)
				x.tell(event.ApprovalAsked{ID: "a1", CallID: "c1", Action: npm, Context: action.ApprovalContext{Memory: teaches}})
				x.rest()
				x.decide("d")
				x.Type("use pnpm")
				x.rest()
				x.decide("Tab")
				x.Want("Remembers for this project")
				x.golden("denial-teaches")
				x.decide("Enter")
				x.took(event.AnswerApproval{ID: "a1", Decision: event.Deny, Reason: "use pnpm", Remember: "folder"})
				teaches.Noted = []string{"in this folder: Not `npm install`: use pnpm. (c-qr5k)"}
				x.tell(event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Deny, By: "user", Reason: "use pnpm", Remember: "folder"},
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
