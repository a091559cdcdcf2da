package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/undo"
	"buddy/app/slash"
)

// asked shows finished exchanges, one for each prompt.
func (x *testUI) asked(prompts ...string) {
	for i, text := range prompts {
		x.feed(
			event.PromptSubmitted{ID: i + 1, Text: text, Kind: event.Opening},
			event.TaskStarted{ID: i + 1, Kind: event.MainTask, Title: text},
			event.Notice{Text: "answer to " + text},
			event.TaskFinished{ID: i + 1, Outcome: event.Completed},
		)
	}
}

// wants fails the test unless each text is on the screen; one that starts with ! must not be.
func (x *testUI) wants(texts ...string) {
	x.t.Helper()
	for _, text := range texts {
		if not, ok := strings.CutPrefix(text, "!"); !ok {
			x.Want(text)
		} else if shown := x.Screen(); strings.Contains(shown, not) {
			x.t.Errorf("%q is on the screen:\n%s", not, shown)
		}
	}
}

// seqOf returns the number of the prompt at an index.
func (x *testUI) seqOf(i int) uint64 { return x.u.state.Back.Borders[i].Seq }

// TestEscTwiceGoesBack: without a running task the list of prompts opens with the changes since each; the text of the
// chosen prompt goes into the editor, and the draft into the history.
func TestEscTwiceGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.Press("Esc", "Esc")
		x.wants("!Rewind to before") // there are no prompts
		x.asked("fix the tests", "write docs")
		x.since = []undo.Change{{Prompt: 1, Files: 12, Added: 1345, Removed: 21}}
		x.Type("a draft")
		x.Press("Esc")
		x.wants("Esc again to rewind", "!Rewind to before")
		x.Press("x", "Backspace", "Esc")
		x.wants("Esc again to rewind", "!Rewind to before") // another key came between
		x.Press("Esc")
		x.wants("Rewind to before", "12 files +1345 −21 ", "no file", "Not restored: ignored files")
		x.Press("Down", "Enter")
		x.wants("Rewind to before “fix the tests”", "1  conversation and files (12 files +1345 −21)", "4  fork", "5  show all changes")
		x.decide("1")
		at := x.seqOf(0)
		x.wantSent(event.Rewind{ToSeq: at, Conversation: true, Files: true})
		x.wants("!conversation and files", "a draft")
		x.feed(event.HistoryRewound{ToSeq: at, Prompt: "fix the tests", Files: []string{"/w/a"}})
		x.wants("rewound to before “fix the tests”, 1 file put back", "> fix the tests", "!write docs", "!a draft")
		x.Press("Up")
		x.wants("a draft")
	})
}

// TestEscWhileATaskRunsStopsIt: and it opens no list.
func TestEscWhileATaskRunsStopsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.asked("first")
		x.feed(event.PromptSubmitted{ID: 2, Text: "second", Kind: event.Opening}, event.TaskStarted{ID: 2, Kind: event.MainTask, Title: "second"})
		x.Press("Esc", "Esc")
		x.wantSent(event.Cancel{})
		x.wants("!Rewind to before")
	})
}

// TestRewindChoices: each choice sends its commands; a fork leaves the session unchanged.
func TestRewindChoices(t *testing.T) {
	for choice, want := range map[string]func(at uint64) []event.Command{
		"conversation": func(at uint64) []event.Command { return []event.Command{event.Rewind{ToSeq: at, Conversation: true}} },
		"files":        func(at uint64) []event.Command { return []event.Command{event.Rewind{ToSeq: at, Files: true}} },
		"fork":         func(uint64) []event.Command { return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, 100, 30)
			x.asked("first", "second")
			x.Press("F9")
			x.Settle()
			x.Want("Rewind to before")
			x.Press("Enter")
			x.Settle()
			x.decide(map[string]string{"conversation": "2", "files": "3", "fork": "4"}[choice])
			x.wantSent(want(x.seqOf(1))...)
			if choice == "fork" && x.left != (slash.Next{Again: true, Resume: "copy1"}) {
				t.Errorf("left for %+v", x.left)
			}
		})
	}
}

// TestUndoAsks: undo asks, and names the later prompts, if there are any after the one whose changes it reverts.
func TestUndoAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.asked("fix the tests", "write docs")
		x.since = []undo.Change{{Prompt: 2, Files: 1, Added: 1}}
		x.Type("/undo")
		x.Press("Esc", "Enter") // closes the completion list
		x.wantSent(event.Undo{})
		x.since = []undo.Change{{Prompt: 1, Files: 2, Added: 3, Removed: 1, Later: 1}}
		x.Type("/undo")
		x.Press("Esc", "Enter")
		x.wantSent()
		x.wants("Undo?", "The last prompt that changed files is “fix the tests”.", "1  undo its changes: 2 files +3 −1", "2  cancel")
		x.decide("1")
		x.wantSent(event.Undo{Steps: 1})
		x.Type("/undo 2 --force")
		x.Press("Enter")
		x.wantSent(event.Undo{Steps: 2, Force: true})
		x.Type("/redo")
		x.Press("Esc", "Enter")
		x.wantSent(event.Redo{})
	})
}

// TestJoinedPromptsAreInTheList: a prompt that was sent during an exchange is listed, marked as rewinding together with
// the prompt that it joined.
func TestJoinedPromptsAreInTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.asked("earlier")
		x.feed(
			event.PromptSubmitted{ID: 2, Text: "fix the tests", Kind: event.Opening},
			event.TaskStarted{ID: 2, Kind: event.MainTask, Title: "fix the tests"},
			event.PromptSubmitted{ID: 3, Text: "and the docs", Queued: true},
			event.PromptSubmitted{ID: 3, Text: "and the docs", Kind: event.Steering},
			event.TaskFinished{ID: 2, Outcome: event.Completed},
		)
		x.Press("Esc", "Esc")
		x.wants("fix the tests ↳ and the docs")
		x.Type("docs")
		x.Press("Enter")
		x.wants("Rewind to before “fix the tests”", "“and the docs” was sent while this prompt ran")
		x.decide("1")
		at := x.seqOf(1)
		x.wantSent(event.Rewind{ToSeq: at, Conversation: true, Files: true})
		x.feed(event.HistoryRewound{ToSeq: at, Prompt: "fix the tests"})
		x.Press("Esc", "Esc")
		x.wants("Rewind to before", "earlier", "!↳ and the docs")
	})
}

// TestUnknownChangesAreNotNoChange: a choice made before the files were compared, or after the comparison failed, does
// not claim that no file changes.
func TestUnknownChangesAreNotNoChange(t *testing.T) {
	for name, c := range map[string]struct {
		fails error
		want  string
	}{
		"comparing": {nil, "…"},
		"failed":    {errors.New("web is away"), "?"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 100, 30)
				x.asked("fix the tests")
				x.sinceErr = c.fails
				if c.fails == nil {
					works := 0
					x.u.deps.Background = func(work func() func()) {
						if works++; works == 1 { // the comparison takes some time
							work()()
						}
					}
				}
				x.Press("Esc", "Esc", "Enter")
				x.wants("Rewind to before “fix the tests”", "!no file")
				if !slices.ContainsFunc(strings.Split(x.Screen(), "\n"), func(row string) bool {
					return strings.Contains(row, "conversation and files") && strings.Contains(row, c.want)
				}) {
					x.t.Errorf("no %q:\n%s", c.want, x.Screen())
				}
			})
		})
	}
}
