package agent

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/tools"
	"buddy/tools/file"
)

// brokenWrite is write_file that does not write "full" and writes half of "part"; "killed" stops everything.
type brokenWrite struct{ tools.Tool }

func (w brokenWrite) Run(ctx context.Context, c tools.Call) tools.Result {
	data, err := os.ReadFile(c.Planned.Path)
	kept := tools.Before{Path: c.Planned.Path, Existed: err == nil, Data: data, Perm: 0o640, After: tools.SumOf([]byte("never"))}
	broken := func(content string) bool { return strings.Contains(c.Arguments, content) }
	if !broken("full") && !broken("part") && !broken("killed") {
		return w.Tool.Run(ctx, c)
	}
	if err := c.KeepBefore(kept); err != nil {
		return tools.Failure(err)
	}
	switch {
	case broken("part"):
		if err := os.WriteFile(kept.Path, []byte("pa"), 0o640); err != nil {
			return tools.Failure(err)
		}
	case broken("killed"):
		<-ctx.Done()
	}
	return tools.Failure(errDiskFull)
}

// TestUndoOfFailedWrites: a failed call without changes is not undone, even if the process ended before it changed
// anything; changes of a failed call are.
func TestUndoOfFailedWrites(t *testing.T) {
	const later = "you sent 1 prompt after that"
	for name, tt := range map[string]struct {
		prompts [][]string // contents that each writes to files
		undo    event.Undo
		said    string // error text
		text    string // success text
		left    map[string]string
	}{
		"the newest prompt":  {[][]string{{"a.txt", "good"}, {"b.txt", "full"}}, event.Undo{Steps: 1}, "", "undid the changes of “prompt 1”: a.txt", map[string]string{"a.txt": ""}},
		"is asked about":     {[][]string{{"a.txt", "good"}, {"b.txt", "full"}}, event.Undo{}, later, "", map[string]string{"a.txt": "good"}},
		"of a file there is": {[][]string{{"a.txt", "good"}, {"a.txt", "full"}}, event.Undo{Steps: 1}, "", "undid the changes of “prompt 1”: a.txt", map[string]string{"a.txt": ""}},
		"nothing has":        {[][]string{{"a.txt", "full"}}, event.Undo{}, "nothing to undo", "", nil},
		"of one prompt":      {[][]string{{"a.txt", "good", "a.txt", "full", "b.txt", "full"}}, event.Undo{}, "", "undid the changes of “prompt 1”: a.txt", map[string]string{"a.txt": ""}},
		"then it worked":     {[][]string{{"a.txt", "full", "a.txt", "good"}}, event.Undo{}, "", "undid the changes of “prompt 1”: a.txt", map[string]string{"a.txt": ""}},
		"it changed a file":  {[][]string{{"a.txt", "good"}, {"b.txt", "part"}}, event.Undo{Force: true}, "", "undid the changes of “prompt 2”: b.txt", map[string]string{"a.txt": "good", "b.txt": ""}},
		"killed":             {[][]string{{"a.txt", "good"}, {"b.txt", "killed"}}, event.Undo{Steps: 1}, "", "undid the changes of “prompt 1”: a.txt", map[string]string{"a.txt": ""}},
		"killed in between":  {[][]string{{"a.txt", "good", "a.txt", "killed"}}, event.Undo{}, "", "undid the changes of “prompt 1”: a.txt", map[string]string{"a.txt": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, out := t.TempDir(), t.TempDir()
			session := func(t *testing.T, stored []event.Envelope, steps ...step) (s *session, ws *file.Workspace) {
				s = undoingSession(t, dir, out, stored, func(o *Options) {
					var err error
					if ws, err = file.NewWorkspace(dir, nil); err != nil {
						t.Fatal(err)
					}
					o.Tools, o.Files = tools.NewRegistry(brokenWrite{file.NewWriteFile(ws)}), filesOf(ws)
				}, steps...)
				return s, ws
			}
			var stored []event.Envelope
			synctest.Test(t, func(t *testing.T) {
				var steps []step
				for i, p := range tt.prompts {
					for j := 0; j < len(p); j += 2 {
						steps = append(steps, says("", writes(fmt.Sprintf("w%d%d", i, j), p[j], p[j+1])))
					}
					steps = append(steps, says("done"))
				}
				s, _ := session(t, nil, steps...)
				for i := range tt.prompts {
					s.do(event.Submit{Text: fmt.Sprint("prompt ", i+1)})
				}
				stored = slices.Clone(s.mem.events)
				s.stop()
			})
			for again := range 2 { // the second process knows what the first one found out
				synctest.Test(t, func(t *testing.T) {
					s, ws := session(t, stored)
					if again == 0 {
						stored = append(stored, s.mem.events...)
						s.stop()
						return
					}
					s.do(tt.undo)
					w, _ := find[event.Warning](s)
					e, _ := find[event.Error](s)
					if said := w.Text + e.Text; !strings.Contains(said, tt.said) || tt.said == "" && said != "" {
						t.Errorf("it says %q, want %q", said, tt.said)
					}
					did, n := find[event.FileRestored](s)
					if text := strings.ReplaceAll(did.Text(), ws.Root()+"/", ""); n > 0 && text != tt.text {
						t.Errorf("it says %q, want %q", text, tt.text)
					}
					wantFiles(t, dir, tt.left)
					s.stop()
				})
			}
		})
	}
}
