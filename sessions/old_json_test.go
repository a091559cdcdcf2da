package sessions

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
)

const oldText = `{"version":1,"id":"ID","updated_at_millis":1750000000000,"state":{"messages":[
{"role":"system","content":"You are agentx."},
{"role":"user","content":"list the files"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"run_shell","arguments":"{\"command\":\"ls\"}"}},
 {"id":"c2","type":"function","function":{"name":"read_file","arguments":"{}"}}],"reasoning_content":"hm"},
{"role":"tool","tool_call_id":"c1","content":"notes.txt"},
{"role":"assistant","content":[{"type":"text","text":"There is"},{"type":"text","text":"one file."}]},
{"role":"user","content":""},
{"role":"user","content":"and now?"}
],"tokens":{"total_prompt_tokens":1200,"total_completion_tokens":80}}}`

// oldProject returns a project with files in .agentx/sessions, and its store.
func oldProject(t *testing.T, where Location, files map[string]string) (Store, string) {
	t.Helper()
	cwd := filepath.Join(t.TempDir(), "shop")
	dir := filepath.Join(cwd, ".agentx", "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, _, err := Dir(cwd, where)
	if err != nil {
		t.Fatal(err)
	}
	return s, cwd
}

// TestOldSessions: JSON files of the first programs become sessions with the same messages, wherever sessions are
// stored. A second start changes nothing.
func TestOldSessions(t *testing.T) {
	for _, where := range []Location{InState, InProject} {
		setState(t)
		s, cwd := oldProject(t, where, map[string]string{"aaaa-bbbb.json": oldText, "v2.json": `{"version":2}`, "broken.json": `{"version":1,`, "notes.json": `[1]`, "bad.json": `{"version":1,"state":{"messages":[7]}}`})
		for start := range 2 {
			m, err := Move(s)
			if err != nil || m.Imported != 1-start || !strings.Contains(m.Problem, "v2.json can't be read: version 2, this program reads 1") {
				t.Fatalf("%s: %+v, %v", where, m, err)
			}
		}
		all, err := s.List()
		if err != nil || len(all) != 1 || all[0].ID != "aaaa-bbbb" || all[0].Title != "list the files" || !all[0].Used.Equal(time.UnixMilli(1750000000000)) || all[0].Header.Cwd != cwd && all[0].Header.Cwd != s.root {
			t.Fatalf("%s: %+v, %v", where, all, err)
		}
		j, err := s.Open("aaaa-bbbb")
		if err != nil {
			t.Fatal(err)
		}
		if !errors.Is(j.ReadOnly(), ErrUntrusted) {
			t.Error("a session that nobody signed can be continued:", j.ReadOnly())
		}
		var types []string
		part, err := j.Load()
		for _, env := range part.Events {
			types = append(types, event.Type(env.Payload))
			switch p := env.Payload.(type) {
			case event.ModelMessage:
				if len(p.Message.ToolCalls) > 0 && string(p.Message.Extra["reasoning_content"]) != `"hm"` {
					t.Error("an unknown field was lost:", p.Message.Extra)
				}
				if len(p.Message.ToolCalls) == 0 && p.Message.Content != "There is\none file." {
					t.Errorf("%q", p.Message.Content)
				}
			case event.ToolResult:
				if want := map[string]string{"c1": "notes.txt", "c2": "the session has no result of this call"}[p.CallID]; p.Result != want {
					t.Errorf("%s: %q", p.CallID, p.Result)
				}
			case event.MetricsUsage:
				if p.SessionPrompt != 1200 || p.SessionCompletion != 80 {
					t.Errorf("%+v", p)
				}
			}
		}
		const begin, end = "prompt.submitted task.queued task.started ", "task.finished "
		want := "session.created " + begin + "turn.started model.message tool.requested tool.requested tool.result tool.result turn.finished " +
			"turn.started model.message turn.finished " + end + begin + end + begin + end + "metrics.usage session.closed"
		if got := strings.Join(types, " "); got != want || err != nil {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Trust("aaaa-bbbb"); err != nil {
			t.Fatal(err)
		}
		if j, err = s.Open("aaaa-bbbb"); err != nil || j.ReadOnly() != nil {
			t.Fatal(err, j.ReadOnly())
		}
		exchanges, err := j.Exchanges()
		if err != nil || len(exchanges) != 3 {
			t.Error(exchanges, err)
		}
		_ = j.Close()
		if !exists(filepath.Join(s.dir, "aaaa-bbbb", "old.json")) {
			t.Error("the old file is gone")
		}
		if _, err := s.Remove("aaaa-bbbb"); err != nil {
			t.Fatal(err)
		}
		if m, err := Move(s); m.Imported != 0 || err != nil {
			t.Error("a deleted session came back", m, err)
		}
	}
}

// TestOldSessionTraps: a link, another session's id and a huge count of nothing import nothing and hide nothing.
func TestOldSessionTraps(t *testing.T) {
	setState(t)
	secret := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(secret, []byte(oldText), 0o600); err != nil {
		t.Fatal(err)
	}
	s, cwd := oldProject(t, InState, map[string]string{".json": oldText, "a b.json": oldText})
	dir := filepath.Join(cwd, ".agentx", "sessions")
	if err := os.Symlink(secret, filepath.Join(dir, "linked.json")); err != nil {
		t.Fatal(err)
	}
	j, err := s.Create(Header{ID: "taken", Cwd: cwd, Target: "local"})
	if err != nil {
		t.Fatal(err)
	}
	_ = j.Close()
	if err := os.WriteFile(filepath.Join(dir, "taken.json"), []byte(oldText), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := Move(s); err != nil || m.Imported != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	if j, err = s.Open("taken"); err != nil || j.ReadOnly() != nil || j.Info().LastSeq != 0 {
		t.Error("a session was replaced", err)
	}
	_ = j.Close()
	if err := os.WriteFile(filepath.Join(s.dir, "good.json"), []byte(oldText), 0o600); err != nil { // positive control
		t.Fatal(err)
	}
	if m, err := Move(s); err != nil || m.Imported != 1 {
		t.Errorf("%+v, %v", m, err)
	}
}

func FuzzOldSession(f *testing.F) {
	f.Add(oldText)
	f.Add(`{"version":1,"state":{"messages":[{"role":"tool","tool_call_id":"x"},{"role":"assistant","tool_calls":[{}]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		old, err := parseOld([]byte(text))
		if err != nil {
			return
		}
		data, err := old.journal("x", "/w")
		if err != nil {
			return
		}
		if _, rest, err := splitHeader(data); err != nil || len(rest) == 0 {
			t.Fatal(err)
		}
	})
}
