//go:build linux && (amd64 || arm64)

package confine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A command in the sandbox can't read files with secrets in a folder that it may read, with any program and any
// spelling; it can read the other files.
func TestSecretsInTheFolderCannotBeRead(t *testing.T) {
	if err := Possible(); err != nil {
		t.Skip(err)
	}
	work, temp := t.TempDir(), t.TempDir()
	write := func(name string) {
		t.Helper()
		file := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("found "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".env", "main.go", "a/b/prod.tfvars", "a/b/x.txt", "a/c/y.txt", "keys/openai", "state/k/1", "free/z", ".git/HEAD"} {
		write(name)
	}
	if err := os.Symlink(".env", filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	config := Config{Reach: Reach{Read: []string{work}, Hidden: []string{filepath.Join(work, "keys/openai"), filepath.Join(work, "state"), "/elsewhere"}}, Env: os.Environ(), Temp: temp}
	box, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { box.Close() }()
	run := func(line string) string { return runInBox(t, box, work, line) }
	for _, line := range []string{
		"cat .env", "cat link", "f=en; cat .${f}v", "base64 -d <.env; cat $PWD/.env", "cat a/b/*.tfvars", "cat keys/*", "cat state/k/1", "cd state/k && cat 1", "grep -rh found .env a/b/prod.tfvars keys state",
		"find . -name 'prod*' -exec cat {} +", "tar c keys state .env | grep -a found", "cp .env \"$TMPDIR\"/x && cat \"$TMPDIR\"/x", "dd if=.env", "ln .env a/c/hard && cat a/c/hard",
	} {
		if got := run(line); strings.Contains(got, "found") {
			t.Errorf("%s: %q", line, got)
		}
	}
	got := run("cat main.go a/b/x.txt a/c/y.txt free/z .git/HEAD; ls -a . keys a/b; grep -rsh found . | wc -l")
	for _, want := range []string{"found main.go", "found a/b/x.txt", "found a/c/y.txt", "found free/z", "found .git/HEAD", ".env", "openai", "prod.tfvars", "\n5\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if !box.Reads(work) || !box.Reads(filepath.Join(work, "a")) {
		t.Error("the folder can't be entered")
	}

	// A file created next to a secret has no rule yet, which makes the box stale.
	if box.Stale() {
		t.Error("stale at once")
	}
	write("free/new")
	if box.Stale() || !strings.Contains(run("cat free/new"), "found") {
		t.Error("a file in a folder without secrets needs no new box")
	}
	write("new.go")
	if !box.Stale() {
		t.Error("the box does not know of a new file")
	}
	old := box
	if box, err = box.Renew(); err != nil {
		t.Fatal(err)
	}
	old.Close()
	if got := run("cat new.go .env"); !strings.Contains(got, "found new.go") || strings.Contains(got, "found .env") {
		t.Errorf("afterwards: %q", got)
	}
}

// runInBox returns the output of a shell line in a folder inside a box.
func runInBox(t *testing.T, box *Box, dir, line string) string {
	t.Helper()
	cmd := exec.Command("bash", "-c", "read -r go; "+line+" 2>&1")
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := box.Start(cmd); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Write([]byte("go\n"))
	_ = in.Close()
	_ = cmd.Wait()
	if err := box.Sweep(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Given files may be read even if their folder is hidden, in any place, and also after they were replaced; nothing else
// in the folder can be read.
func TestWhatIsGivenCanBeRead(t *testing.T) {
	if err := Possible(); err != nil {
		t.Skip(err)
	}
	for name, around := range map[string]func(home, elsewhere string) string{
		"in the folder": func(home, _ string) string { return home }, "elsewhere": func(_, elsewhere string) string { return elsewhere },
	} {
		home := t.TempDir()
		state := filepath.Join(around(home, t.TempDir()), ".local/state/buddy")
		write := func(name string) string {
			path := filepath.Join(state, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path+"~", []byte("found "+name+"\n"), 0o600), os.Rename(path+"~", path)); err != nil {
				t.Fatal(err)
			}
			return path
		}
		write("journal.key")
		write("s/2/out/1/out")
		given := []string{filepath.Dir(filepath.Dir(write("s/1/out/1/out"))), write("memory.md")}
		for _, c := range []struct {
			given []string
			want  string
		}{{nil, ""}, {given, "found s/1/out/1/out\nfound memory.md\n"}} {
			box, err := New(Config{Reach: Reach{Read: []string{home}, Hidden: []string{state}, Given: c.given}, Env: os.Environ(), Temp: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			line := "(cat"
			for _, file := range []string{"s/1/out/1/out", "s/2/out/1/out", "journal.key", "memory.md"} {
				line += " " + filepath.Join(state, file)
			}
			if got := runInBox(t, box, home, line+" 2>/dev/null)"); got != c.want {
				t.Errorf("%s, given %q: %q, want %q", name, c.given, got, c.want)
			}
			write("memory.md")
			if stale := box.Stale(); c.given != nil && !stale {
				t.Errorf("%s: the box does not know that a file was replaced", name)
			}
			box.Close()
		}
	}
}

// A second name of a file with secrets makes it readable by neither name, although a rule applies to the file; other
// files with several names stay readable.
func TestSecretsWithASecondNameCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/.env", "a/one", "b/key.pem", "b/x"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"a/.env": "a/hard.txt", "b/key.pem": "a/other.txt", "a/one": "a/two"} {
		if err := os.Link(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Skip(err)
		}
	}
	secrets := newSurvey(dir, nil).look()
	rules, _ := visible(dir, secrets)
	var got []string
	for _, r := range rules[1:] {
		name, _ := filepath.Rel(dir, r.path)
		got = append(got, name)
	}
	slices.Sort(got)
	if want := []string{"a/one", "a/two", "b/x"}; !slices.Equal(got, want) {
		t.Errorf("rules for %q, want %q", got, want)
	}
}

// A link that replaced a listed file gives access to nothing.
func TestRulesFollowNoLinks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".env", "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rules, listed := visible(dir, newSurvey(dir, nil).look())
	if len(rules) != 2 || len(listed) != 1 || rules[1].path != filepath.Join(dir, "x") || !rules[1].noLink {
		t.Fatalf("%+v, %+v", rules, listed)
	}
	if rules, listed := visible(filepath.Join(dir, ".env"), newSurvey(filepath.Join(dir, ".env"), []string{dir}).look()); rules != nil || listed != nil {
		t.Errorf("below a hidden folder: %+v, %+v", rules, listed)
	}
}
