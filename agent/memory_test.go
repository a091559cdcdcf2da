package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/instructions"
	"buddy/agent/turn"
	"buddy/features/memory"
	"buddy/tools"
	"buddy/tools/basic"
	"buddy/tools/file"
)

// remembering returns a memory with a single file in the folder, and the file's path.
func remembering(t *testing.T) (p memory.Part, path string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files, err := file.NewWorkspace(dir, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "memory.md")
	return memory.Part{Store: memory.Open(memory.Options{
		Session: "s1", Target: "local", Dir: filepath.Join(dir, "observed"), Person: true, Publish: func(event.Event) {},
		Sources: func(context.Context) ([]memory.Source, error) {
			return []memory.Source{{Scope: memory.Folder, Path: path, Files: files, Inside: dir, Base: dir}}, nil
		},
	})}, path
}

// A denial is remembered if the person wants it; the next approval of a similar call shows it. The model's proposals
// wait. Both are reported, and /status counts the memory.
func TestDenialTeachesAndCallsPropose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, path := remembering(t)
		s := start(t, func(o *Options) {
			shellOptions(o)
			o.Tools = tools.NewRegistry(&shellTool{}, basic.NewRemember())
			o.Parts = []turn.Part{m}
			o.Instructions = m.After(func(context.Context) (instructions.Set, error) { return instructions.Set{}, nil })
			o.Memory = Memory{Report: m.Report, Told: m.Told}
		}, says("", "c1 do npm install a", "c2 do npm install b", `c3 remember {"text":"Tests need a database.","kind":"fact"}`), says("ok"))
		defer s.stop()
		s.do(event.Submit{Text: "go"})
		asked, _ := find[event.ApprovalAsked](s)
		if got := asked.Context.Memory; len(got.Said)+len(got.Noted) != 0 || !slices.Equal(got.Scopes, []string{"folder"}) || got.Begins != "Not `npm install`: " {
			t.Errorf("asked with %+v", got)
		}
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Deny, Reason: "use pnpm", Remember: "folder"})
		asked, _ = find[event.ApprovalAsked](s)
		if got := asked.Context.Memory.Noted; len(got) != 1 || !strings.HasPrefix(got[0], "in this folder: Not `npm install`: use pnpm") {
			t.Errorf("asked again with %q", got)
		}
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Deny, Reason: "no", Remember: event.RememberNothing})
		data, err := os.ReadFile(path)
		if err != nil || strings.Count(string(data), "\n- ") != 1 || !strings.Contains(string(data), "- Not `npm install`: use pnpm") || !strings.Contains(string(data), "session:s1 call:c1") {
			t.Errorf("%q, %v", data, err)
		}
		var said []string
		for _, env := range s.mem.events {
			if n, ok := env.Payload.(event.Notice); ok && n.Code == memory.Code {
				said = append(said, n.Text)
			}
		}
		if len(said) != 2 || !strings.HasPrefix(said[0], "remembered in this folder: Not `npm install`: use pnpm") || !strings.HasPrefix(said[1], "proposed for memory: Tests need a database.") {
			t.Errorf("said %q", said)
		}
		if all, err := m.Proposals(t.Context()); err != nil || len(all) != 1 || all[0].Source != "model" {
			t.Errorf("proposed %+v, %v", all, err)
		}
		if shown := fmt.Sprint(Status(s.Runtime)); !strings.Contains(shown, "{Memory rules 0, corrections 1, facts 0, new in this session 1;") {
			t.Error(shown)
		}
	})
}
