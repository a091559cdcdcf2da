package undo

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/agent/undo/snapshot"
	"buddy/tools"
	"buddy/tools/file"
)

// memory is a journal that keeps the events.
type memory []event.Envelope

func (m *memory) Append(env event.Envelope) error {
	*m = append(*m, env)
	return nil
}

func (m *memory) Range(after uint64, f func(event.Envelope) bool) error {
	for _, env := range *m {
		if env.Seq > after && !f(env) {
			break
		}
	}
	return nil
}

// folder is a workspace in which commands and file tools change files, with a log of the changes.
type folder struct {
	*Log
	t       *testing.T
	root    string
	files   *file.Workspace
	tree    *snapshot.Tree
	journal memory
	state   string
	prompt  int
}

func newFolder(t *testing.T, make string) *folder {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &folder{t: t, root: root, state: t.TempDir()}
	if f.files, err = file.NewWorkspace(root, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	f.shell(make)
	f.tree = snapshot.Open(snapshot.Options{Store: filepath.Join(f.state, "store"), State: filepath.Join(f.state, "session"), Roots: []string{root}})
	f.open(nil)
	return f
}

// open makes the log of a process that continues with some events.
func (f *folder) open(events []event.Envelope) {
	f.journal = events
	s := stream.New("s1", time.Now, &f.journal)
	f.Log = New(s, func(context.Context, string) (Files, error) { return f.files, nil }, "local", filepath.Join(f.state, "session"))
	f.Commands.Cover(f.tree, "local", nil)
	for _, env := range events {
		f.Replay(env)
	}
	if n := len(events); n > 0 {
		s.Resume(events[n-1].Seq)
	}
}

func (f *folder) shell(command string) {
	f.t.Helper()
	cmd := exec.Command("bash", "-ec", command)
	cmd.Dir = f.root
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

func (f *folder) scan() []snapshot.Change {
	f.t.Helper()
	done, err := f.tree.Scan(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return done.Changes
}

// asks starts the next prompt.
func (f *folder) asks(text string) {
	f.prompt++
	f.Begun(event.TaskStarted{ID: f.prompt, Title: text})
	f.stream.Publish(f.prompt, 0, event.TaskStarted{ID: f.prompt, Title: text})
	p := event.PromptSubmitted{ID: f.prompt, Text: text}
	f.Opened(p)
	f.stream.Publish(f.prompt, 0, p)
}

// command runs a command for the last prompt.
func (f *folder) command(line string) {
	f.t.Helper()
	f.scan()
	f.shell(line)
	call := tools.Call{ID: stream.NewID(), Planned: action.Action{Kind: action.Shell, Target: "local", Command: line}}
	if err := f.Commands.Ran(f.prompt, 1, call, f.scan(), ""); err != nil {
		f.t.Fatal(err)
	}
}

// write writes a file as a file tool does.
func (f *folder) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.root, name)
	before, err := f.files.Contents(f.t.Context(), []string{path})
	if err != nil {
		f.t.Fatal(err)
	}
	before[0].After = tools.SumOf([]byte(text))
	call := tools.Call{ID: stream.NewID(), Dir: filepath.Join(f.state, stream.NewID()), Planned: action.Action{Target: "local"}}
	if err := f.Keep(f.prompt, 1, call, before); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// undo undoes n prompts, or redoes.
func (f *folder) undo(n int, redo, force bool) event.FileRestored {
	f.t.Helper()
	u, err := f.Begin(f.t.Context(), n)
	if redo {
		u, err = f.BeginRedo(f.t.Context())
	}
	if err != nil {
		f.t.Fatal(err)
	}
	defer u.End()
	u.PutBack(force)
	if u.err != nil {
		f.t.Fatal(u.err)
	}
	return u.Finish(false)
}

// state returns the names and contents of all files.
func (f *folder) contents() string {
	f.t.Helper()
	var all []string
	err := filepath.WalkDir(f.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, strings.TrimPrefix(path, f.root+"/")+"="+string(text))
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func (f *folder) wants(when, want string) {
	f.t.Helper()
	if got := f.contents(); got != want {
		f.t.Errorf("%s: %s, want %s", when, got, want)
	}
}

// One undo takes back one prompt, whether commands or file tools made the changes, and redo brings them back, also in
// the next process.
func TestUndoCoversCommandsAndFileTools(t *testing.T) {
	f := newFolder(t, "printf 1 > a; printf 1 > b; mkdir d; printf 1 > d/x")
	f.asks("first")
	f.write("a", "2")
	f.command("printf 3 > a; printf 3 > b; rm -r d")
	f.write("b", "4")
	f.asks("second")
	f.command("printf 5 > new; rm a")
	f.open(f.journal)
	if steps := Steps(f.Log); len(steps) != 2 || steps[0].Count != 2 || steps[1].Count != 4 || !slices.Equal(steps[0].By, []string{"printf 5 > new; rm a"}) {
		t.Errorf("steps: %+v", steps)
	}
	if text, n, err := f.Diff(t.Context(), "= "); err != nil || n != 5 || !strings.Contains(text, "= a  deleted") || !strings.Contains(text, "-1\n") || !strings.Contains(text, "= d  folder, permissions 755 → nothing") {
		t.Errorf("diff of %d files: %v\n%s", n, err, text)
	}
	if text, n, err := DiffOf(t.Context(), f.Log, 2, 1, "= "); err != nil || n != 4 || !strings.Contains(text, "= a  +1 -1 lines") || !strings.Contains(text, "-1\n\\ No newline at end of file\n+3\n") || strings.Contains(text, "= new") {
		t.Errorf("before the second prompt, the diff of %d files: %v\n%s", n, err, text)
	}
	if e := f.undo(0, false, false); e.Count != 2 || e.List == "" {
		t.Errorf("undid %+v", e)
	}
	f.wants("second undone", "a=3 b=4")
	f.undo(1, false, false)
	f.wants("first undone", "a=1 b=1 d/x=1")
	f.open(f.journal)
	f.undo(0, true, false)
	f.wants("first redone", "a=3 b=4")
	f.undo(0, true, false)
	f.wants("second redone", "b=4 new=5")
	f.undo(2, false, false)
	f.wants("both undone", "a=1 b=1 d/x=1")
}

// A comparison keeps the files of this machine and of another target apart, also where their paths are the same.
func TestDifferenceOfSeveralTargets(t *testing.T) {
	f := newFolder(t, "printf 1 > a; printf 1 > b")
	f.asks("go")
	f.command("printf 2 > a")
	call := tools.Call{ID: stream.NewID(), Dir: filepath.Join(f.state, "web"), Planned: action.Action{Target: "web"}}
	path := filepath.Join(f.root, "b")
	if err := f.Keep(f.prompt, 1, call, []tools.Before{{Path: path, Existed: true, Perm: 0o644, Data: []byte("there")}}); err != nil {
		t.Fatal(err)
	}
	text, n, err := f.Diff(t.Context(), "= ")
	if err != nil || n != 2 || strings.Count(text, "local:a  ") != 1 || strings.Count(text, "web:b  ") != 1 {
		t.Errorf("diff of %d files: %v\n%s", n, err, text)
	}
}

// A process that is killed while it restores files leaves some of them restored: the next one restores the others or
// takes all back, wherever the kill was.
func TestKilledWhileFilesOfCommandsAreRestored(t *testing.T) {
	const was, is = "a=1 b=1 c=1 d/x=1", "a=2 b=2 d/y=2 e=2"
	restored := []string{"printf 1 > a", "printf 1 > b", "printf 1 > c", "printf 1 > d/x", "rm d/y", "rm e"}
	for kills := range len(restored) + 1 {
		for _, redo := range []bool{false, true} {
			f := newFolder(t, "mkdir d; for f in a b c d/x; do printf 1 > $f; done")
			f.asks("go")
			f.command("rm c d/x; for f in a b d/y e; do printf 2 > $f; done")
			f.undo(0, false, false)
			last := slices.IndexFunc(f.journal, func(env event.Envelope) bool { _, ok := env.Payload.(event.FileRestored); return ok })
			f.undo(0, true, false)
			f.wants("before the kill", is)
			f.shell(strings.Join(restored[:kills], "; "))
			f.open(f.journal[:last])
			if f.half == nil {
				t.Fatal("nothing was interrupted")
			}
			if redo {
				f.undo(0, true, false)
				f.wants("taken back", is)
				continue
			}
			f.undo(0, false, false)
			f.wants("continued", was)
			f.undo(0, true, false)
			f.wants("redone", is)
		}
	}
}

// What somebody has changed since stops an undo; what a file tool wrote while a command ran belongs to the tool.
func TestChangesOfOthers(t *testing.T) {
	f := newFolder(t, "printf 1 > a; printf 1 > b")
	f.asks("go")
	f.command("printf 2 > a; printf 2 > b")
	f.shell("printf mine > b")
	u, err := f.Begin(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if u.PutBack(false) || len(u.changed) != 1 {
		t.Errorf("changed since: %q (%v)", u.changed, u.err)
	}
	u.Finish(false)
	u.End()
	f.wants("refused", "a=2 b=mine")
	f.undo(0, false, true)
	f.wants("forced", "a=1 b=1")
	f.undo(0, true, false)
	f.wants("redone", "a=2 b=mine")

	f.scan()
	f.write("a", "tool")
	call := tools.Call{ID: "background", Planned: action.Action{Kind: action.Shell, Target: "local", Command: "server"}}
	f.shell("printf 3 > b")
	if err := f.Commands.Ran(f.prompt, 1, call, f.scan(), ""); err != nil {
		t.Fatal(err)
	}
	if kept := f.steps[0].kept; kept[len(kept)-1].Count != 1 {
		t.Errorf("recorded %+v", kept[len(kept)-1])
	}
}
