package agent

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/tools"
	"buddy/tools/basic"
	"buddy/tools/file"
)

// TestUndoOfAgents: changes of agents for a prompt are undone together with those of the main agent, also after a
// resume, and the person and the model learn whose changes they were.
func TestUndoOfAgents(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	run := func(replay []event.Envelope, scripts map[string][]step, do func(s *session, m *byAgent)) (stored []event.Envelope) {
		synctest.Test(t, func(t *testing.T) {
			s, m := withAgents(t, scripts, []string{worker}, func(o *Options) {
				ws, err := file.NewWorkspace(dir, nil)
				if err != nil {
					t.Fatal(err)
				}
				o.Tools = tools.NewRegistry(file.NewWriteFile(ws), file.NewReadFile(ws), basic.NewAgent())
				o.Files = filesOf(ws)
				o.OutDir, o.Mode, o.Policy.Workspace, o.Replay = out, "all", ws.Root(), replay
			})
			do(s, m)
			s.stop()
			stored = s.mem.events
		})
		return append(replay, stored...)
	}
	stored := run(nil, map[string][]step{
		"main": {
			says("", writes("m1", "a", "first\n")), says("done"),
			says("", writes("m2", "b", "main\n")),
			says("", callsAgent("a1", "worker", "one", ""), callsAgent("a2", "worker", "two", "")),
			says("", writes("m3", "c", "main\n")), says("done"),
			says("", callsAgent("a3", "worker", "three", "")), says("done"),
		},
		"one":   {says("", writes("w1", "one", "1\n")), says("", writes("w2", "one", "2\n")), says("end")},
		"two":   {says("", callsAgent("b1", "worker", "deep", "")), says("end")},
		"deep":  {says("", writes("w1", "deep", "3\n")), says("end")},
		"three": {says("", readsFile("r1", "a")), says("", writes("w1", "a", "agent\n")), says("end")},
	}, func(s *session, m *byAgent) {
		s.do(event.Submit{Text: "first"})
		s.do(event.Submit{Text: "second"})
		s.do(event.Submit{Text: "third"})
		wantFiles(t, dir, map[string]string{"a": "agent\n", "b": "main\n", "c": "main\n", "one": "2\n", "deep": "3\n"})
		s.do(event.Undo{Steps: 1})
		wantFiles(t, dir, map[string]string{"a": "first\n", "b": "main\n", "deep": "3\n"})
		did, _ := find[event.FileRestored](s)
		if !reflect.DeepEqual(did.Agents, []string{"worker #7"}) || did.Text() != "undid the changes of “third”, also through agents (worker #7): "+did.Paths[0] {
			t.Errorf("taken back: %+v: %s", did, did.Text())
		}
	})
	run(stored, map[string][]step{"main": {says("I see")}}, func(s *session, m *byAgent) {
		s.do(event.Undo{Steps: 1})
		wantFiles(t, dir, map[string]string{"a": "first\n", "b": "", "c": "", "one": "", "deep": ""})
		did, _ := find[event.FileRestored](s)
		if len(did.Paths) != 4 || len(did.Agents) != 2 || did.Steps != 1 {
			t.Errorf("taken back: %+v", did)
		}
		s.do(event.Submit{Text: "and?"})
		text := m.sent("main")[0].Messages
		if told := text[len(text)-1].Content + text[len(text)-2].Content; !strings.Contains(told, "you and your agents ("+strings.Join(did.Agents, ", ")+") made (/undo)") {
			t.Errorf("the model is told %q", told)
		}
		s.do(event.Undo{Steps: 1})
		wantFiles(t, dir, map[string]string{"a": ""})
		if did, _ := find[event.FileRestored](s); len(did.Agents) != 0 || strings.Contains(did.Text(), "agents") {
			t.Errorf("taken back: %+v", did)
		}
	})
}
