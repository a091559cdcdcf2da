package target

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/policy"
)

// linked creates a workspace with links and a folder outside it.
func linked(t *testing.T) (work, beside string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, beside = filepath.Join(dir, "here"), filepath.Join(dir, "beside")
	for _, name := range []string{work + "/src/deep/x.go", work + "/a.go", work + "/.env", work + "/-ox.txt", beside + "/sub/key.txt", beside + "/x.go"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"out": beside + "/sub", "b.go": "../beside/x.go", "notes.md": ".env", "in": "src/deep", "round": "round", "chain": "b.go", "far": "/etc",
	} {
		if err := os.Symlink(to, filepath.Join(work, link)); err != nil {
			t.Fatal(err)
		}
	}
	return work, beside
}

func TestLinksAreFollowedAsTheKernelDoes(t *testing.T) {
	work, beside := linked(t)
	for path, want := range map[string]string{
		"/a.go": "/a.go", "/in/x.go": "/src/deep/x.go", "/in/../x": "/src/x", "/none/../a.go": "/a.go", "/./src//deep/": "/src/deep", "/round": "/round", "/in/none/x": "/src/deep/none/x",
	} {
		if got := followLinks(work + path); got != work+want {
			t.Errorf("followLinks(%s) = %s, want %s", path, got, work+want)
		}
	}
	for path, want := range map[string]string{"/out/key.txt": "/sub/key.txt", "/out/../x.go": "/x.go", "/chain": "/x.go", "/../beside/x.go": "/x.go"} {
		if got := followLinks(work + path); got != beside+want {
			t.Errorf("followLinks(%s) = %s, want %s", path, got, beside+want)
		}
	}
}

// A command needs approval for the same paths as read_file, with any links, .. and patterns on the way.
func TestReadingHasOneBorder(t *testing.T) {
	work, beside := linked(t)
	p := policy.Policy{Workspace: work, Home: "/home/ann", Confined: true, Resolve: followLinks, Match: matched}
	ask := func(line, cwd string) action.Decision {
		return p.Judge(action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: line, Cwd: cwd}, action.ModeAsk).Decision
	}
	free := []string{
		"cat a.go", "cat in/x.go", "cat src/../a.go", "cat in/../../a.go", "cat '" + work + "/a.go'", "ls", "ls src", "cat src/deep/*.go", "cat in/*.go", "find . -name '*.go'",
		"cd src && cat ../a.go", "cd in && ls", "cat a*.go", "wc -l a*.go", "diff a.go src/deep/x.go", "cat /etc/os-release", "cat a.go /dev/null", "df -h /", "grep -rn foo_bar .",
		"sort -t/ -k2 a.go", "cut -d/ -f2 a.go", "grep -n /etc/passwd a.go", "git log --oneline -- src", "git diff main..dev -- src/../a.go", "[ -f a.go ]", "wc -l src/*/*.go",
	}
	for _, line := range free {
		if ask(line, work) != action.Allow {
			t.Errorf("%q asks", line)
		}
	}
	asked := []string{
		"cat b.go", "cat chain", "cat out/key.txt", "cat out/../x.go", "ls out", "ls out/", "cat out/*", "cat *.go", "head -3 *.md", "cat notes.md", "grep -n foo_bar *.md", "wc -l b*.go", "cat */x.go ../beside/*",
		"cat ../beside/x.go", "cat src/../../beside/x.go", "cat in/../../../beside/x.go", "cd .. && ls", "cd out && ls", "cd in && cat ../../../beside/x.go", "cd in; cat ../../a.go; cat ../../../here/b.go",
		"cat " + beside + "/x.go", "ls /", "ls /etc", "cat far/passwd", "cat /etc/passwd", "stat /etc/passwd", "find / -name x", "find ..", "find out/ -name x", "du -sh ..", "cat ~/.bashrc", "ls ~",
		"grep -rn foo_bar ..", "cat < b.go", "cat < ../beside/x.go", "git diff --no-index a.go /etc/passwd", "git -C ../beside log", "diff a.go /etc/passwd", "tar -tf ../beside/x.tar", "tar -tf a.tar -C ..",
		"date -r /etc/passwd", "[ -f /etc/passwd ]", "cat */../../beside/x.go", "file -- *", "tree *", "cat /proc/self/environ", "cat /proc/1/cmdline", "head -c 9 /dev/urandom", "cat /dev/tty",
		"jq . ../beside/x.go", "sed -n 1p ../beside/x.go", "awk 1 ../beside/x.go", "openssl x509 -in ../beside/x.go -noout -text", "for f in b.go; do cat $f; done", "cat {a,b}.go", "cat .e*", "git -C ../beside status",
	}
	for _, line := range asked {
		if ask(line, work) != action.Ask {
			t.Errorf("%q is free", line)
		}
	}
	// A previous cd, also to an unknown folder, does not change which paths need approval.
	for _, cwd := range []string{beside, "/etc", "", work + "/out"} {
		for _, line := range []string{"ls", "cat x.go", "find . -name x", "grep -rn foo_bar", "tree", "git status", "wc -l *.go"} {
			if ask(line, cwd) != action.Ask {
				t.Errorf("%q in %q is free", line, cwd)
			}
		}
	}
	for _, path := range []string{"b.go", "chain", "out/key.txt", "notes.md", "/etc/passwd"} { // as read_file resolves it
		if !filepath.IsAbs(path) {
			path = filepath.Join(work, path)
		}
		if v := p.Judge(action.Action{Kind: action.FileRead, Tool: "read_file", Path: followLinks(path)}, action.ModeAsk); v.Decision != action.Ask {
			t.Errorf("read_file %s: %+v", path, v)
		}
	}
}

// A pattern matches the names that exist now, and the destinations of links among them.
func TestMatched(t *testing.T) {
	work, beside := linked(t)
	for pattern, want := range map[string][]string{
		"a*.go": {"a.go"}, "b.go": {"b.go", beside + "/x.go"}, "*.none": nil, `a\*`: nil, ".e*": {".env"}, "src/*/*.go": {"src/deep/x.go"},
	} {
		got, ok := matched(work, pattern)
		for i, name := range got {
			if rel, err := filepath.Rel(work, name); err == nil && !strings.HasPrefix(rel, "..") {
				got[i] = rel
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !ok || !slices.Equal(got, want) {
			t.Errorf("matched(%s) = %q, %v; want %q", pattern, got, ok, want)
		}
	}
	if _, ok := matched("/", "*/*/*/*"); ok {
		t.Error("a pattern may look at everything")
	}
}
