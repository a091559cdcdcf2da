package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
	"buddy/tools/file"
)

// undoing starts a session whose files are in dir, and that asks nobody.
func undoing(t *testing.T, dir, out string, replay []event.Envelope, steps ...step) *session {
	t.Helper()
	return undoingSession(t, dir, out, replay, func(*Options) {}, steps...)
}

func undoingSession(t *testing.T, dir, out string, replay []event.Envelope, more func(*Options), steps ...step) *session {
	t.Helper()
	ws, err := file.NewWorkspace(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return start(t, func(o *Options) {
		withWindow(1_000_000)(o)
		o.Tools = tools.NewRegistry(file.NewWriteFile(ws), file.NewEditFile(ws), file.NewApplyPatch(ws), file.NewReadFile(ws))
		o.Files = filesOf(ws)
		o.Readers = ws.Readers()
		o.OutDir, o.Mode, o.Policy.Workspace, o.Replay = out, action.ModeAll, ws.Root(), replay
		more(o)
	}, steps...)
}

// filesOf returns the files of the target "local".
func filesOf(ws *file.Workspace) func(context.Context, string) (Files, error) {
	return func(_ context.Context, target string) (Files, error) {
		if target != "local" {
			return nil, fmt.Errorf("unknown target %q", target)
		}
		return ws, nil
	}
}

func callOf(id, name string, args map[string]any) string {
	args["why"] = "test"
	raw, _ := json.Marshal(args)
	return id + " " + name + " " + string(raw)
}

func writes(id, path, content string) string {
	return callOf(id, "write_file", map[string]any{"path": path, "content": content})
}

// wantFiles compares the files in a folder; "" is a missing file.
func wantFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	for name, text := range want {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && text != "" || string(data) != text {
			t.Errorf("%s has %q (%v), want %q", name, data, err, text)
		}
	}
}

func TestUndo(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	put := putIn(t, dir)
	put("a.txt", "one\n")
	put("gone.txt", "still here\n")
	var stored []event.Envelope
	synctest.Test(t, func(t *testing.T) {
		s := undoing(t, dir, out, nil,
			says("", callOf("r1", "read_file", map[string]any{"path": "a.txt"}), callOf("r2", "read_file", map[string]any{"path": "gone.txt"})),
			says("", callOf("e1", "edit_file", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"}), writes("w1", "sub/new.txt", "made\n")),
			says("", callOf("e2", "edit_file", map[string]any{"path": "a.txt", "old_string": "two", "new_string": "three"})), says("done"),
			says("", callOf("p1", "apply_patch", map[string]any{"patch": "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-still here\n"}), writes("w2", "a.txt", "four\n")), says("done"),
			says("seen"))
		s.do(event.Undo{})
		if e, n := find[event.Error](s); n != 1 || !strings.Contains(e.Text, "nothing to undo") {
			t.Errorf("an undo of nothing: %+v", e)
		}
		s.do(event.Submit{Text: "first"})
		wantFiles(t, dir, map[string]string{"a.txt": "three\n", "sub/new.txt": "made\n"})
		s.do(event.Submit{Text: "second"})
		wantFiles(t, dir, map[string]string{"a.txt": "four\n", "gone.txt": ""})
		if diff, files, err := s.Changes(t.Context(), "= "); err != nil || files != 3 || !strings.Contains(diff, "= a.txt  +1 -1 lines") ||
			!strings.Contains(diff, "-one\n+four\n") || !strings.Contains(diff, "= gone.txt  deleted") || !strings.Contains(diff, "= sub/new.txt  new file") {
			t.Errorf("%d files, %v:\n%s", files, err, diff)
		}

		put("a.txt", "mine\n") // somebody else changes the file
		s.do(event.Undo{})
		if w, n := find[event.Warning](s); n != 1 || !strings.Contains(w.Text, "a.txt") || !strings.Contains(w.NextStep, "--force") || strings.Contains(w.Text, "gone") {
			t.Errorf("warned %d times: %+v", n, w)
		}
		wantFiles(t, dir, map[string]string{"a.txt": "mine\n", "gone.txt": ""}) // nothing was written
		s.do(event.Undo{Force: true})
		wantFiles(t, dir, map[string]string{"a.txt": "three\n", "gone.txt": "still here\n", "sub/new.txt": "made\n"})
		if info, err := os.Stat(filepath.Join(dir, "gone.txt")); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("gone.txt: %v, %v", info, err)
		}
		if e, n := find[event.FileRestored](s); n != 1 || e.Steps != 1 || len(e.Paths) != 2 || strings.Join(e.Calls, " ") != "p1 w2" {
			t.Errorf("restored %+v", e)
		}
		s.do(event.Submit{Text: "go on"})
		last := s.model.requests[len(s.model.requests)-1].Messages
		if said := last[len(last)-2]; said.Role != model.User || !strings.Contains(said.Content, "The user undid changes") || !strings.Contains(said.Content, "gone.txt") {
			t.Errorf("the model was told %+v", said)
		}
		stored = s.mem.events
		s.stop()
	})
	synctest.Test(t, func(t *testing.T) { // also after a resume, and the model must read the file again
		s := undoing(t, dir, out, stored, says("", writes("w9", "a.txt", "blind\n")), says("ok"))
		s.do(event.Undo{Steps: 5})
		wantFiles(t, dir, map[string]string{"a.txt": "one\n", "gone.txt": "still here\n", "sub/new.txt": ""})
		s.do(event.Undo{})
		if e, _ := find[event.Error](s); !strings.Contains(e.Text, "nothing to undo") {
			t.Errorf("a second undo: %+v", e)
		}
		s.do(event.Submit{Text: "write"})
		wantFiles(t, dir, map[string]string{"a.txt": "one\n"})
		if got := s.results(); !strings.Contains(got[len(got)-1], "read") {
			t.Errorf("written blindly: %q", got)
		}
		s.stop()
	})
	if err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if info, e := d.Info(); err == nil && e == nil && !d.IsDir() && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

func TestUndoWaitsForTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := undoing(t, t.TempDir(), t.TempDir(), nil, hangs("working"))
		s.do(event.Submit{Text: "go"}, event.Undo{})
		if e, n := find[event.Error](s); n != 1 || !strings.Contains(e.Text, "while task #1 is running") {
			t.Errorf("%d errors, %+v", n, e)
		}
		s.stop()
	})
}

// awayFiles are files of an unreachable target.
type awayFiles struct{ changed []string }

func (f awayFiles) Restore(context.Context, []tools.Before, bool) ([]string, error) {
	return f.changed, nil
}

func (awayFiles) Contents(_ context.Context, paths []string) ([]tools.Before, error) {
	return make([]tools.Before, len(paths)), nil
}

func (awayFiles) Forget([]string) {}

func (awayFiles) Difference(_ context.Context, files []tools.Before, mark string) (string, int, error) {
	return mark + files[0].Path + "\n", 1, nil
}

// Files of other targets have the target in their name, those of the first target do not.
func TestUndoNamesTheTarget(t *testing.T) {
	for target, name := range map[string]string{"web": "web:/etc/hosts", "local": "/etc/hosts"} {
		synctest.Test(t, func(t *testing.T) {
			files := &awayFiles{changed: []string{"/etc/hosts"}}
			s := start(t, func(o *Options) {
				o.Target = "local"
				o.Files = func(context.Context, string) (Files, error) { return files, nil }
			})
			s.changes.Replay(event.Envelope{Task: 1, Payload: event.FileKept{CallID: "c", Target: target, Files: []event.KeptFile{{Path: "/etc/hosts"}}}})
			if diff, _, err := s.Changes(t.Context(), "= "); err != nil || diff != "= "+name+"\n" {
				t.Errorf("%s: /diff says %q, %v", target, diff, err)
			}
			s.do(event.Undo{})
			if w, _ := find[event.Warning](s); w.Text != "nothing was undone, because these files have changed since: "+name {
				t.Errorf("%s: %q", target, w.Text)
			}
			files.changed = nil
			s.do(event.Undo{})
			if e, _ := find[event.FileRestored](s); len(e.Paths) != 1 || e.Paths[0] != name {
				t.Errorf("%s: restored %+v", target, e)
			}
			s.stop()
		})
	}
}

// slowFiles belong to a target that does not answer until its context ends, or go does.
type slowFiles struct{ awayFiles }

func (slowFiles) Restore(ctx context.Context, _ []tools.Before, _ bool) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// /undo on an unreachable target blocks nothing: other commands run, prompts wait.
func TestUndoBesideTheQueue(t *testing.T) {
	away := func(o *Options) {
		o.Target = "local"
		o.Files = func(context.Context, string) (Files, error) { return slowFiles{}, nil }
	}
	kept := event.FileKept{CallID: "c", Target: "web", Files: []event.KeptFile{{Path: "/etc/hosts"}}}
	for name, end := range map[string]struct {
		do   func(*session)
		want string
	}{
		"cancelled": {func(s *session) { s.do(event.Cancel{}) }, "nothing was undone: cancelled"},
		"in vain":   {func(*session) { time.Sleep(time.Minute) }, "nothing was undone: it took longer than 1m0s; is the target reachable?"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, away, says("hello"))
				s.changes.Replay(event.Envelope{Task: 1, Payload: kept})
				s.do(event.Undo{})
				began := time.Now()
				Settle(t.Context(), s.Runtime) // other commands are answered at once
				if w := WorkOf(s.Runtime); len(w.Running) > 0 || !time.Now().Equal(began) {
					t.Errorf("runs %+v", w)
				}
				s.do(event.Undo{}, event.Submit{Text: "ls", Shell: true})
				if e, n := find[event.Error](s); n != 2 || !strings.Contains(e.Text, "an undo is running") {
					t.Errorf("%d refusals, the last %q", n, e.Text)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if n, _ := find[event.Notice](s); !strings.Contains(n.Text, "restoring files on web") {
					t.Errorf("told %q", n.Text)
				}
				s.do(event.Submit{Text: "hi"})
				if p, _ := find[event.PromptSubmitted](s); !p.Queued {
					t.Errorf("the prompt does not wait: %+v", p)
				}
				end.do(s)
				synctest.Wait()
				if e, _ := find[event.Error](s); e.Text != end.want {
					t.Errorf("said %q, want %q", e.Text, end.want)
				}
				if f, n := find[event.TaskFinished](s); n != 1 || f.Outcome != event.Completed {
					t.Errorf("the prompt that waited: %d tasks, %+v", n, f)
				}
				s.stop()
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // the end does not wait for it
		s := start(t, away)
		s.changes.Replay(event.Envelope{Task: 1, Payload: kept})
		s.do(event.Undo{})
		s.stop()
	})
}

// putIn returns a function that writes files in a folder.
func putIn(t *testing.T, dir string) func(name, text string) {
	return func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
}
