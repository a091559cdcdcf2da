package compose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/sessions"
)

// While a session prints, the oldest outputs are removed once all exceed the limit.
func TestOutputsStayWithinTheirLimit(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	store, _, err := sessions.Dir(t.TempDir(), sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	j, err := store.Create(sessions.Header{Cwd: "/work"})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close() //nolint:errcheck // nothing was written
	p := &Program{Setup: Setup{Store: store, ID: j.Info().Header.ID}}
	p.Config.Sessions.Outputs = 1
	synctest.Test(t, func(t *testing.T) {
		l := &outputLimit{program: p}
		for _, call := range []string{"000001", "000002", "000003"} {
			dir := filepath.Join(store.OutDir(p.ID), call)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"out": strings.Repeat("x", 400_000), "rc": "0\n"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			l.see(event.Envelope{Payload: event.ToolResult{FullOutput: &action.FullOutput{Path: filepath.Join(dir, "out"), Bytes: 400_000}}})
			synctest.Wait()
		}
	})
	for call, want := range map[string]string{"000001": "[buddy removed", "000002": "xxx", "000003": "xxx"} {
		text, err := os.ReadFile(filepath.Join(store.OutDir(p.ID), call, "out"))
		if err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%s: %.50q, %v", call, text, err)
		}
	}
}
