package file

import (
	"encoding/json"
	"maps"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"buddy/agent/action"
	"buddy/tools"
	"buddy/tools/fs"
	"buddy/tools/toolstest"
)

// bench is a workspace in a temporary folder with the file tools.
type bench struct {
	toolstest.Bench
	ws   *Workspace
	root string
}

type args = toolstest.Args

func newBench(t testing.TB) *bench {
	t.Helper()
	if onTarget != nil {
		return onTarget(t)
	}
	t.Setenv("HOME", t.TempDir())
	ws, err := NewWorkspace(t.TempDir(), dotEnv)
	if err != nil {
		t.Fatal(err)
	}
	KeepOldBytes(ws, fs.Recovery(t.TempDir()))
	return &bench{toolstest.Bench{T: t, Tools: tools.NewRegistry(Tools(ws)...)}, ws, ws.root}
}

func dotEnv(path string) string {
	if strings.HasPrefix(filepath.Base(path), ".env") {
		return filepath.Base(path)
	}
	return ""
}

func (b *bench) path(rel string) string { return filepath.Join(b.root, rel) }

// put makes files, given as path, content, path, content, …
func (b *bench) put(files ...string) {
	b.T.Helper()
	for f := range slices.Chunk(files, 2) {
		if err := os.MkdirAll(filepath.Dir(b.path(f[0])), 0o755); err != nil {
			b.T.Fatal(err)
		}
		if err := os.WriteFile(b.path(f[0]), []byte(f[1]), 0o644); err != nil {
			b.T.Fatal(err)
		}
	}
}

func (b *bench) link(target, rel string) {
	b.T.Helper()
	if err := os.Symlink(target, b.path(rel)); err != nil {
		b.T.Fatal(err)
	}
}

func (b *bench) content(rel string) string {
	b.T.Helper()
	data, err := os.ReadFile(b.path(rel))
	if err != nil {
		b.T.Fatal(err)
	}
	return string(data)
}

// odd creates one of each kind of file that is not a regular file.
func (b *bench) odd() map[string]string {
	b.T.Helper()
	if err := unix.Mkfifo(b.path("fifo"), 0o600); err != nil {
		b.T.Fatal(err)
	}
	if err := os.Mkdir(b.path("folder"), 0o700); err != nil {
		b.T.Fatal(err)
	}
	odd := map[string]string{"fifo": "FIFO", "folder": "folder", "/dev/null": "device"}
	if l, err := net.Listen("unix", b.path("s")); err == nil { // fails for a long temp path
		b.T.Cleanup(func() { _ = l.Close() })
		odd["s"] = "socket"
	}
	return odd
}

// Every tool accepts a reason, and refuses unknown arguments before anything happens.
func TestArgumentsOfEveryTool(t *testing.T) {
	b := newBench(t)
	b.put("a.txt", "x\n")
	valid := map[string]args{
		"read_file": {"path": "a.txt"}, "write_file": {"path": "a.txt", "content": ""},
		"edit_file":   {"path": "a.txt", "old_string": "x", "new_string": "y"},
		"apply_patch": {"patch": "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"},
		"list_dir":    {}, "glob": {"pattern": "*"}, "grep": {"pattern": "x"},
	}
	for _, def := range b.Tools.Definitions() {
		a, ok := valid[def.Name]
		if !ok {
			t.Errorf("no arguments for %s", def.Name)
		}
		with := func(k string, v any) args {
			c := maps.Clone(a)
			c[k] = v
			return c
		}
		for _, why := range []any{"  ", nil, "a reason"} { // the reason is optional
			if _, err := b.Plan(def.Name, with("why", why)); strings.Contains(err, "invalid arguments") {
				t.Errorf("%s with the reason %v: %s", def.Name, why, err)
			}
		}
		b.Fails(def.Name, with("file", "b"), `invalid arguments: unknown argument "file" (have: `)
		if res := b.Run(toolstest.CallOf(def.Name, a)); !res.IsError || !strings.Contains(res.Content, "not planned") {
			t.Errorf("%s without a plan = %+v", def.Name, res)
		}
		if def.Name == "apply_patch" {
			continue
		}
		b.Fails(def.Name, with("path", true), "invalid arguments: path: expected string, got boolean")
		b.Fails(def.Name, with("path", "a\x00b"), `invalid arguments: path: "a\x00b" contains a control character`)
		b.Fails(def.Name, with("path", "a\x1b[2Jb"), "contains a control character")
		b.Fails(def.Name, with("path", strings.Repeat("a", fs.MaxPath+1)), "longer than 4096 bytes")
	}
	if got := b.content("a.txt"); got != "x\n" {
		t.Errorf("the file is %q now", got)
	}
}

func TestDefinitionsAreSmall(t *testing.T) {
	b := newBench(t)
	data, err := json.Marshal(b.Tools.Definitions())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(data))
	if len(data) > 6<<10 {
		t.Errorf("the definitions have %d bytes, want at most 6 KB", len(data))
	}
}

func TestPlanTellsTheTruth(t *testing.T) {
	b := newBench(t)
	b.put("sub/a.txt", "one\ntwo\n")
	b.link("sub", "link")
	b.link("/etc", "sys")
	if err := os.MkdirAll(filepath.Join(b.ws.home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.OK("read_file", args{"path": "sub/a.txt"})
	tests := []struct {
		name string
		tool string
		a    args
		want action.Action
	}{
		{"read", "read_file", args{"path": "link/a.txt"}, action.Action{Kind: action.FileRead, Path: b.path("sub/a.txt"), Risk: action.Low}},
		{"read what is missing", "read_file", args{"path": "link/none/b"}, action.Action{Kind: action.FileRead, Path: b.path("sub/none/b"), Risk: action.Low}},
		{"dots are text", "read_file", args{"path": "link/../x/./y"}, action.Action{Kind: action.FileRead, Path: b.path("x/y"), Risk: action.Low}},
		{"home", "read_file", args{"path": "~/x"}, action.Action{Kind: action.FileRead, Path: b.ws.home + "/x", Risk: action.Low}},
		{"list", "list_dir", args{}, action.Action{Kind: action.FileRead, Path: b.root, Risk: action.Low}},
		{"glob", "glob", args{"pattern": "*.go", "path": "/"}, action.Action{Kind: action.FileRead, Path: "/", Risk: action.Low, Preview: "*.go"}},
		{"grep", "grep", args{"pattern": "x+", "path": "link"}, action.Action{Kind: action.FileRead, Path: b.path("sub"), Risk: action.Low, Preview: "x+"}},
		{
			"write new", "write_file",
			args{"path": "new/b.txt", "content": "1\n2"},
			action.Action{
				Kind: action.FileWrite, Path: b.path("new/b.txt"), Risk: action.Medium, Mutation: true,
				Preview: "new file, +2 -0 lines, 3 bytes\n--- /dev/null\n+++ new/b.txt\n@@ -0,0 +1,2 @@\n+1\n+2\n\\ No newline at end of file\n",
			},
		},
		{
			"overwrite", "write_file",
			args{"path": "link/a.txt", "content": "one\n2\n"},
			action.Action{
				Kind: action.FileWrite, Path: b.path("sub/a.txt"), Links: []string{b.path("link/a.txt")}, Risk: action.Medium, Mutation: true,
				Preview: "+1 -1 lines, 8 → 6 bytes\n--- sub/a.txt\n+++ sub/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
			},
		},
		{
			"edit", "edit_file",
			args{"path": "sub/a.txt", "old_string": "two", "new_string": "three"},
			action.Action{
				Kind: action.FileWrite, Path: b.path("sub/a.txt"), Risk: action.Medium, Mutation: true,
				Preview: "+1 -1 lines, 8 → 10 bytes\n--- sub/a.txt\n+++ sub/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n",
			},
		},
		{
			"system folder", "write_file",
			args{"path": "sys/buddy-test", "content": ""},
			action.Action{
				Kind: action.FileWrite, Path: realOf(t, "/etc") + "/buddy-test", Links: []string{b.path("sys/buddy-test")}, Risk: action.High, Mutation: true,
				Preview: "new file, +0 -0 lines, 0 bytes\n",
			},
		},
		{
			"keys", "write_file",
			args{"path": "~/.ssh/authorized_keys", "content": ""},
			action.Action{
				Kind: action.FileWrite, Path: b.ws.home + "/.ssh/authorized_keys", Risk: action.High, Mutation: true,
				Preview: "new file, +0 -0 lines, 0 bytes\n",
			},
		},
		{
			"git hook", "write_file",
			args{"path": ".git/hooks/pre-commit", "content": ""},
			action.Action{
				Kind: action.FileWrite, Path: b.path(".git/hooks/pre-commit"), Risk: action.High, Mutation: true,
				Preview: "new file, +0 -0 lines, 0 bytes\n",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Tool, tt.want.Target, tt.want.Why = tt.tool, b.ws.files.Name(), "a test"
			call, err := b.Plan(tt.tool, tt.a)
			if err != "" || !reflect.DeepEqual(call.Planned, tt.want) {
				t.Errorf("Plan(%v) = %+v, %s\nwant %+v", tt.a, call.Planned, err, tt.want)
			}
		})
	}
	if _, err := os.Lstat(b.path("new")); err == nil {
		t.Error("a plan made a folder")
	}
}

func realOf(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

func TestPathsThatLeadNowhere(t *testing.T) {
	b := newBench(t)
	b.put("file", "x")
	b.link("gone", "dangling")
	b.link("b", "a")
	b.link("a", "b")
	b.put("odd\nname/x", "x")
	b.link("odd\nname", "disguise")
	tests := []struct{ path, want string }{
		{"dangling", "leads to nothing"},
		{"dangling/x", "leads to nothing"},
		{"a", "too many links"},
		{"file/x", "not a directory"},
		{"disguise/x", "which contains a control character"},
	}
	for _, tt := range tests {
		if onTarget != nil && tt.path == "file/x" {
			tt.want = "file" // the error has other words
		}
		b.Fails("read_file", args{"path": tt.path}, tt.want)
		b.Fails("write_file", args{"path": tt.path, "content": "x"}, tt.want)
	}
	b.Fails("write_file", args{"path": "file/", "content": "x"}, "names a folder")
	b.Fails("read_file", args{"path": "none"}, "execution failed", "none does not exist: no such file")
	b.Fails("list_dir", args{"path": "none"}, "none does not exist: no such file")
	b.Fails("list_dir", args{"path": "file"}, "is not a folder")
	b.Fails("glob", args{"path": "file", "pattern": "*"}, "is not a folder")
	b.Fails("grep", args{"path": "none", "pattern": "x"}, "none does not exist: no such file")
}

// A run opens only the approved path: a link that is put into the path between plan and run is not followed.
func TestLinkSwappedBetweenPlanAndRun(t *testing.T) {
	outside := newBench(t).outside()
	if err := os.WriteFile(filepath.Join(outside, "a.txt"), []byte("outside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := map[string]args{
		"read_file": {"path": "dir/a.txt"}, "write_file": {"path": "dir/a.txt", "content": "new\n"},
		"edit_file":   {"path": "dir/a.txt", "old_string": "inside", "new_string": "new"},
		"apply_patch": {"patch": "--- a/dir/a.txt\n+++ b/dir/a.txt\n@@ -1 +1 @@\n-inside\n+new\n"},
		"list_dir":    {"path": "dir"}, "glob": {"path": "dir", "pattern": "*"}, "grep": {"path": "dir", "pattern": "outside"},
	}
	swaps := map[string]func(b *bench){
		"folder": func(b *bench) {
			must(t, os.Rename(b.path("dir"), b.path("moved")))
			b.link(outside, "dir")
		},
		"file": func(b *bench) {
			must(t, os.Remove(b.path("dir/a.txt")))
			b.link(filepath.Join(outside, "a.txt"), "dir/a.txt")
		},
	}
	for how, swap := range swaps {
		for name, a := range calls {
			t.Run(name+" "+how, func(t *testing.T) {
				b := newBench(t)
				b.put("dir/a.txt", "inside\n")
				b.OK("read_file", args{"path": "dir/a.txt"})
				call, err := b.Plan(name, a)
				if err != "" {
					t.Fatal(err)
				}
				swap(b)
				res := b.Run(call)
				if strings.Contains(res.Content, "outside\n") || strings.Contains(res.Content, `outside\n`) {
					t.Errorf("%s read outside: %s", name, res.Content)
				}
				if _, byName := a["pattern"]; !res.IsError && how == "folder" || !res.IsError && !byName && name != "list_dir" {
					t.Errorf("%s succeeded: %s", name, res.Content)
				}
				got, readErr := os.ReadFile(filepath.Join(outside, "a.txt"))
				if readErr != nil || string(got) != "outside\n" {
					t.Errorf("outside is %q, %v", got, readErr)
				}
			})
		}
	}
}

// Retargeting a link in the arguments after the plan has no effect: the planned file is used.
func TestLinkTurnedBetweenPlanAndRun(t *testing.T) {
	b := newBench(t)
	b.put("one/a", "one", "two/a", "two")
	b.link("one", "link")
	call, err := b.Plan("read_file", args{"path": "link/a"})
	if err != "" {
		t.Fatal(err)
	}
	must(t, os.Remove(b.path("link")))
	b.link("two", "link")
	if payload, err := b.Finish(call); payload.Text != "one" {
		t.Errorf("read %v, %s, want what was planned", payload, err)
	}
}

func TestOddFilesAreRefusedAtOnce(t *testing.T) {
	b := newBench(t)
	for path, kind := range b.odd() {
		if kind != "folder" { // list_dir lists it
			b.Fails("read_file", args{"path": path}, "is a "+kind+", not a regular file")
		}
		b.Fails("write_file", args{"path": path, "content": "x"}, "is a "+kind+", not a regular file")
		b.Fails("edit_file", args{"path": path, "old_string": "x", "new_string": "y"}, "is a "+kind)
		if kind != "folder" {
			b.Fails("grep", args{"path": path, "pattern": "x"}, "is a "+kind)
		}
	}
	b.OK("grep", args{"pattern": "x"})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
