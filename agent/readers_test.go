package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/tools"
	"buddy/tools/basic"
	"buddy/tools/file"
)

func readsFile(id, path string) string { return callOf(id, "read_file", map[string]any{"path": path}) }

// resultOf returns the result of a call, "" while there is none.
func resultOf(s *session, call string) (text string) {
	for _, env := range s.events() {
		if p, ok := env.Payload.(event.ToolResult); ok && p.CallID == call {
			text = p.Result
		}
	}
	return text
}

// TestForkKnowsWhatWasRead: a fork may change files that the main conversation had read before; later reads and
// changes of one are unknown to the other.
func TestForkKnowsWhatWasRead(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	for _, name := range []string{"early", "late", "forks", "both"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	side := func(text string) event.Submit { return event.Submit{Text: text, Background: true} }
	synctest.Test(t, func(t *testing.T) {
		s := undoingSession(t, dir, out, nil, func(o *Options) {
			ws, err := file.NewWorkspace(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			o.Readers = ws.Readers()
			o.Tools = tools.NewRegistry(file.NewReadFile(ws), file.NewWriteFile(ws), &fakeTool{})
		}, says("", readsFile("m1", "early"), readsFile("m2", "both")), says("read"))
		s.do(event.Submit{Text: "read"})
		s.model.steps = []step{
			says("", writes("f1", "early", "fork\n"), readsFile("f2", "forks"), writes("f3", "both", "fork\n")), says("changed"),
			says("", writes("m3", "forks", "main\n"), writes("m4", "both", "main\n"), readsFile("m5", "late")), says("tried"),
		}
		s.do(side("change"))
		s.do(event.Submit{Text: "change"})
		for call, want := range map[string]string{
			"f1": "Wrote ", "f3": "Wrote ", // read before
			"m3": "was not read since this session began or was resumed", // read by the fork only
			"m4": "changed since you last read it",
		} {
			if got := resultOf(s, call); !strings.Contains(got, want) {
				t.Errorf("%s gave %q, want %q", call, got, want)
			}
		}
		s.model.steps = []step{
			streams(whole, readsFile("m6", "both"), readsFile("m7", "early"), readsFile("m8", "forks")), // each after the one before
			says("", writes("g1", "late", "fork\n"), writes("g2", "both", "fork\n")), says("tried"),
		}
		s.do(event.Submit{Text: "wait"})
		time.Sleep(1500 * time.Millisecond)
		if last, _ := find[event.ToolStarted](s); last.CallID != "m7" || resultOf(s, "m6") == "" {
			t.Errorf("the call that began last is %s, m6 gave %q", last.CallID, resultOf(s, "m6"))
		}
		s.do(side("change"))
		if got := resultOf(s, "g1"); !strings.Contains(got, "Wrote ") {
			t.Errorf("what was read in an earlier exchange: %q", got)
		}
		if got := resultOf(s, "g2"); !strings.Contains(got, "Wrote ") {
			t.Errorf("what was read while the answer that calls for it streams: %q", got)
		}
		s.do(event.Cancel{})
		s.stop()
	})
	wantFiles(t, dir, map[string]string{"early": "fork\n", "late": "fork\n", "forks": "old\n", "both": "fork\n"})
}

// TestAgentKnowsNothingThatWasRead: an agent has its own history, so it starts without known files.
func TestAgentKnowsNothingThatWasRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s, _ := withAgents(t, map[string][]step{
			"main": {says("", readsFile("m1", "a")), says("", callsAgent("a1", "worker", "one", "")), says("", writes("m2", "a", "main\n")), says("end")},
			"one":  {says("", writes("w1", "a", "blind\n")), says("", readsFile("w2", "a")), says("", writes("w3", "a", "agent\n")), says("end")},
		}, []string{worker}, func(o *Options) {
			ws, err := file.NewWorkspace(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			o.Readers, o.Mode, o.Policy.Workspace = ws.Readers(), "all", ws.Root()
			o.Tools = tools.NewRegistry(file.NewReadFile(ws), file.NewWriteFile(ws), basic.NewAgent())
		})
		s.do(event.Submit{Text: "go"})
		for call, want := range map[string]string{"w1": "was not read since this session began or was resumed", "w3": "Wrote ", "m2": "changed since you last read it"} {
			if got := resultOf(s, call); !strings.Contains(got, want) {
				t.Errorf("%s gave %q, want %q", call, got, want)
			}
		}
		s.stop()
	})
}

// TestResumedSessionKnowsWhatWasRead: a resumed session knows the files read and written before, except those that an
// undo, a rewind or an outside change has made unknown.
func TestResumedSessionKnowsWhatWasRead(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	put := putIn(t, dir)
	for _, name := range []string{"read", "changed", "gone", "rewound"} {
		put(name, "old\n")
	}
	var stored []event.Envelope
	synctest.Test(t, func(t *testing.T) {
		s := undoing(t, dir, out, nil,
			says("", readsFile("r1", "read"), readsFile("r2", "changed"), readsFile("r3", "gone"), writes("w1", "written", "mine\n")), says("read"),
			says("", writes("w2", "undone", "mine\n")), says("written"),
			says("", readsFile("r4", "rewound")), says("read"))
		s.do(event.Submit{Text: "read"})
		s.do(event.Submit{Text: "write"})
		s.do(event.Undo{})
		s.do(event.Submit{Text: "read more"})
		s.do(event.Rewind{ToSeq: s.opening()[2], Conversation: true})
		stored = slices.Clone(s.mem.events)
		s.stop()
	})
	put("changed", "theirs\n")
	put("undone", "theirs\n")
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var ws *file.Workspace
		s := undoingSession(t, dir, out, stored, func(o *Options) {
			var err error
			if ws, err = file.NewWorkspace(dir, nil); err != nil {
				t.Fatal(err)
			}
			o.Readers, o.Tools = ws.Readers(), tools.NewRegistry(file.NewReadFile(ws), file.NewWriteFile(ws))
		}, says("", writes("m1", "read", "new\n"), writes("m2", "written", "new\n"), writes("m3", "changed", "new\n"), writes("m4", "undone", "new\n"), writes("m5", "rewound", "new\n")), says("tried"))
		var told []string
		for _, c := range ws.Changed(t.Context()) {
			told = append(told, c.Path)
		}
		if want := []string{"changed", "gone"}; !slices.Equal(told, want) {
			t.Errorf("the model is told of %q, want %q", told, want)
		}
		s.do(event.Submit{Text: "write"})
		for call, want := range map[string]string{
			"m1": "Wrote ", "m2": "Wrote ", "m3": "changed since you last read it", "m4": "was not read since", "m5": "was not read since",
		} {
			if got := resultOf(s, call); !strings.Contains(got, want) {
				t.Errorf("%s gave %q, want %q", call, got, want)
			}
		}
		s.stop()
	})
}

// TestResumedForkKnowsWhatWasRead: a fork that waited for an approval continues with its known files.
func TestResumedForkKnowsWhatWasRead(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	putIn(t, dir)("a", "old\n")
	asks := func(o *Options) { o.Mode = action.ModeAsk }
	var stored []event.Envelope
	synctest.Test(t, func(t *testing.T) {
		s := undoingSession(t, dir, out, nil, asks, says("", readsFile("r1", "a")), says("read"), says("", writes("w1", "a", "new\n")))
		s.do(event.Submit{Text: "read"})
		s.do(event.Submit{Text: "write", Background: true})
		stored = slices.Clone(s.mem.events)
		s.stop()
	})
	synctest.Test(t, func(t *testing.T) {
		s := undoingSession(t, dir, out, stored, asks, says("written"))
		s.do()
		asked, n := find[event.ApprovalAsked](s)
		if n != 1 {
			t.Fatalf("asked %d times", n)
		}
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
		if got := resultOf(s, "w1"); !strings.Contains(got, "Wrote ") {
			t.Errorf("it gave %q", got)
		}
		s.stop()
	})
}
