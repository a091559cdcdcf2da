//go:build linux && (amd64 || arm64)

package fence

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"buddy/texts/unseen"
)

// works are scripts whose results must be the same in the fence as outside. Slow ones run only with allLines.
var works = []struct {
	name, needs string
	slow        bool
	script      string
}{
	{"git commit and rebase", "git", false, `
git init -q -b main . && git config user.name x && git config user.email x@x
echo 1 >a && git add . && git commit -qm one && git checkout -qb side && echo 2 >b && git add . && git commit -qm two
git checkout -q main && echo 3 >c && git add . && git commit -qm three && git checkout -q side && git rebase -q main
printf '#!/bin/sh\necho hook ran\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && echo 4 >d && git add . && git commit -qm four
git log --format=%s && git status --short && git stash list && git gc -q && git fsck`},
	{"make, cc and install", "make cc", false, `
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >h.c
printf 'h: h.c\n\tcc -o h h.c\ninstall: h\n\tinstall -m 755 h out/h\n' >Makefile
mkdir out && make -s -j2 install && ./out/h && stat -c %a out/h && touch -d 2001-01-01 h && cp -p h h2 && ln h2 h3 && mv h3 h4 && stat -c %Y h4`},
	{"unittest with multiprocessing and a server", "python3", false, `
cat >test_x.py <<'EOF'
import http.server, multiprocessing, socket, threading, unittest, urllib.request, tempfile, os
def double(x): return 2*x
class T(unittest.TestCase):
    def test_pool(self):
        with multiprocessing.Pool(2) as p: self.assertEqual(p.map(double, [1, 2]), [2, 4])
    def test_shared(self):
        from multiprocessing import shared_memory
        m = shared_memory.SharedMemory(create=True, size=10); m.buf[0] = 1; m.close(); m.unlink()
    def test_server(self):
        s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
        threading.Thread(target=s.serve_forever, daemon=True).start()
        self.assertEqual(urllib.request.urlopen("http://localhost:%d/" % s.server_port).status, 200)
        s.shutdown()
    def test_unix(self):
        a = os.path.join(tempfile.mkdtemp(), "s"); s = socket.socket(socket.AF_UNIX); s.bind(a); s.listen()
        c = socket.socket(socket.AF_UNIX); c.connect(a)
unittest.main(verbosity=0)
EOF
python3 test_x.py >out.txt 2>&1; echo $?; grep -E '^(OK|FAILED)' out.txt`},
	{"shell", "bash", false, `
set -o pipefail; mkfifo p; (echo through >p &); cat <p; mktemp -d >/dev/null && echo temp; echo x >/dev/shm/x$$ && cat /dev/shm/x$$; rm -f /dev/shm/x$$; (ulimit -n 64; echo limit)
sleep 100 & kill $!; wait $! 2>/dev/null; echo $?; timeout 0.1 sleep 5; echo $?; echo $((6*7)) | tee f | cat; id -u; umask; date +%Z; locale 2>/dev/null | head -1; getent passwd root | cut -d: -f1`},
	{"go build and test with httptest", "go", true, `
export GOFLAGS=-mod=mod GOTOOLCHAIN=local CGO_ENABLED=0
printf 'module x\n\ngo 1.21\n' >go.mod
cat >x_test.go <<'EOF'
package x
import ("io"; "net/http"; "net/http/httptest"; "os"; "os/exec"; "path/filepath"; "testing")
func TestServer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hi") }))
	defer s.Close()
	r, err := http.Get(s.URL); if err != nil { t.Fatal(err) }
	if b, _ := io.ReadAll(r.Body); string(b) != "hi" { t.Fatal(string(b)) }
	f := filepath.Join(t.TempDir(), "f"); if err := os.WriteFile(f, nil, 0o600); err != nil { t.Fatal(err) }
	if err := os.Chmod(f, 0o755); err != nil { t.Fatal(err) }
	if err := exec.Command("true").Run(); err != nil { t.Fatal(err) }
}
EOF
go vet . && go test -count=1 . | cut -f1,2`},
	{"npm install and test", "node npm", true, `
mkdir lib && printf '{"name":"lib","version":"1.0.0","scripts":{"postinstall":"echo done >installed"}}' >lib/package.json && echo 'module.exports = 42' >lib/index.js
(cd lib && npm pack --silent) && mv lib/lib-1.0.0.tgz .
printf '{"name":"x","version":"1.0.0","scripts":{"test":"node t.js"},"dependencies":{"lib":"file:lib-1.0.0.tgz"}}' >package.json
echo 'const h=require("http");const s=h.createServer((q,r)=>r.end(String(require("lib")))).listen(0,()=>h.get({port:s.address().port},r=>r.on("data",d=>{console.log(String(d));s.close()})))' >t.js
npm install --silent --no-audit --no-fund && npm test --silent && ls node_modules`},
	{"cargo build", "cargo", true, `
export CARGO_TERM_QUIET=true
mkdir src && printf '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml && printf 'fn main() { println!("hello"); }\n#[test]\nfn t() { assert_eq!(1, 1); }\n' >src/main.rs
cargo run && cargo test 2>/dev/null | grep -c 'test result: ok'`},
}

// TestWorkInside: typical development work has the same result in the fence as outside.
func TestWorkInside(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, w := range works {
		t.Run(w.name, func(t *testing.T) {
			if w.slow && os.Getenv(allLines) == "" {
				t.Skip("takes minutes: " + allLines)
			}
			for _, program := range strings.Fields(w.needs) {
				if _, err := exec.LookPath(program); err != nil {
					t.Skip(err)
				}
			}
			s := Settings{Work: []string{t.TempDir()}, Cache: filepath.Join(t.TempDir(), "cache")}
			f := newFence(t, s)
			outside := exec.Command("bash", "-c", w.script)
			outside.Dir = t.TempDir()
			want, err := outside.Output()
			if err != nil {
				t.Fatalf("outside: %v\n%s", err, want)
			}
			var got, said strings.Builder
			inside := &exec.Cmd{Path: "/bin/bash", Args: []string{"bash", "-c", w.script}, Dir: s.Work[0], Env: f.Environ(os.Environ(), nil), Stdout: &got, Stderr: &said}
			if err := f.Start(inside); err != nil {
				t.Fatal(err)
			}
			err = inside.Wait()
			if swept := f.Sweep(inside.Process.Pid); err != nil || swept != nil || got.String() != string(want) {
				t.Errorf("inside: %v, %v\n%s%s\nwant\n%s", err, swept, got.String(), said.String(), want)
			}
		})
	}
}

// TestLinkedWorkTree: a commit in a work tree whose repository is elsewhere succeeds; the repository's configuration
// and hooks, and other work trees, stay unchanged.
func TestLinkedWorkTree(t *testing.T) {
	base := t.TempDir()
	setup := exec.Command("bash", "-ec", `git init -q -b main main; cd main; git config user.name x; git config user.email x@x; echo 1 >a; git add .; git commit -qm one; git worktree add -q ../tree`)
	setup.Dir = base
	if out, err := setup.CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	tree := filepath.Join(base, "tree")
	s := Settings{Work: []string{tree}, Marks: t.TempDir()}
	f := newFence(t, s)
	if out, err := run(t, f, tree, "echo 2 >b && git add . && git commit -qm two && git log --format=%s"); err != nil || out != "two\none\n" {
		t.Errorf("commit: %v: %s", err, out)
	}
	if !(unseen.Place{Dir: s.Marks, Folders: []string{filepath.Join(base, "main")}}).Marked(false) {
		t.Error("the repository, whose branches it wrote, is not marked")
	}
	for _, line := range []string{
		"git config core.fsmonitor evil", "echo x >$(git rev-parse --git-common-dir)/hooks/pre-commit", "echo x >>$(git rev-parse --git-common-dir)/config",
		"echo /tmp >$(git rev-parse --git-dir)/commondir", "mv $(git rev-parse --git-dir)/commondir /tmp/c", "rm ../main/a", "echo x >$(git rev-parse --git-common-dir)/index",
	} {
		before := tracked(t, base)
		if out, err := run(t, f, tree, line); err == nil {
			t.Errorf("%s: succeeded: %s", line, out)
		}
		if after := tracked(t, base); !slices.Equal(before, after) {
			t.Errorf("%s: changed %q, was %q", line, after, before)
		}
	}
}

// tracked returns the parts of a repository that a command in another work tree may not change.
func tracked(t *testing.T, base string) (all []string) {
	t.Helper()
	for _, name := range []string{"main/.git/config", "main/.git/hooks/pre-commit", "main/.git/index", "main/a", "main/.git/worktrees/tree/commondir"} {
		b, _ := os.ReadFile(filepath.Join(base, name))
		all = append(all, name+": "+string(b))
	}
	return all
}

// TestRefusedWorkspaces: a workspace that contains what the fence protects is refused.
func TestRefusedWorkspaces(t *testing.T) {
	env := []string{"HOME=/home/ann", "PATH=" + os.Getenv("PATH")}
	for _, s := range []Settings{
		{},
		{Work: []string{"/"}},
		{Work: []string{"/home/ann"}},
		{Work: []string{"/home"}},
		{Work: []string{"relative"}},
		{Work: []string{"/home/ann/x"}, Write: []string{"/home/ann"}},
		{Work: []string{"/home/ann/x"}, Write: []string{"/"}},
		{Work: []string{"/home/ann/x", "/home"}},
		{Work: []string{"/home/ann/.local"}, State: "/home/ann/.local/state/buddy"},
		{Work: []string{"/home/ann/.local/state/buddy/x"}, State: "/home/ann/.local/state/buddy"},
		{Work: []string{"/home/ann/x/y"}, Hide: []string{"/home/ann/x"}},
	} {
		if _, err := New(Config{Settings: s, Env: env, Temp: t.TempDir()}); err == nil || !strings.Contains(err.Error(), ErrImpossible.Error()) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
