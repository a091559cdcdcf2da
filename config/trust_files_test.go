package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// project returns a folder with files; x/ is a folder and x -> y a link.
func project(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		from, to, link := strings.Cut(name, " -> ")
		path := filepath.Join(dir, from)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		switch {
		case err != nil:
		case link:
			err = os.Symlink(to, path)
		case strings.HasSuffix(from, "/"):
			err = os.MkdirAll(path, 0o700)
		default:
			err = os.WriteFile(path, []byte(name), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFilesNamed(t *testing.T) {
	dir := project(t, ".git/", "x.sh", "hooks/x.py", "hooks/my hook.sh", "hooks/conf.json", "a/b/", "go-x -> hooks/x.py", "out -> /bin/sh", "gone -> nowhere", "data")
	tests := []struct {
		lines []string
		want  string // separated by |
	}{
		{[]string{"x.sh"}, "x.sh"},
		{[]string{"./x.sh --fast"}, "x.sh"},
		{[]string{"sh x.sh"}, "x.sh"},
		{[]string{"python hooks/x.py"}, "hooks/x.py"},
		{[]string{"python", "hooks/x.py", "data"}, "data|hooks/x.py"},
		{[]string{"${CLAUDE_PROJECT_DIR}/hooks/x.py"}, "hooks/x.py"},
		{[]string{`"$CLAUDE_PROJECT_DIR"/hooks/x.py`}, "hooks/x.py"},
		{[]string{`python3 "$BUDDY_PROJECT_DIR/hooks/x.py"`}, "hooks/x.py"},
		{[]string{`"${CLAUDE_PROJECT_DIR:-.}/hooks/x.py"`}, "hooks/x.py"},
		{[]string{`"$CLAUDE_PROJECT_DIR/hooks/my hook.sh" x`}, "hooks/my hook.sh"},
		{[]string{`hooks/my\ hook.sh`}, "hooks/my hook.sh"},
		{[]string{"hooks/my hook.sh"}, "hooks/my hook.sh"},
		{[]string{`hooks/x'.'py`}, "hooks/x.py"},
		{[]string{"sh -c 'cd hooks && ./x.py'"}, "hooks/x.py"},
		{[]string{`cd "$CLAUDE_PROJECT_DIR/hooks" && ./x.py`}, "hooks/x.py"},
		{[]string{`sh -c "sh -c 'python \"hooks/my hook.sh\"'"`}, "hooks/my hook.sh"},
		{[]string{"D=hooks; python $D/x.py"}, "hooks/x.py"},
		{[]string{"python $(pwd)/hooks/x.py"}, "hooks/x.py"},
		{[]string{"cat `git rev-parse --show-toplevel`/x.sh|sh"}, "x.sh"},
		{[]string{"tool --config=hooks/conf.json"}, "hooks/conf.json"},
		{[]string{"docker run -v ./hooks/conf.json:/c x"}, "hooks/conf.json"},
		{[]string{"curl -d @data x"}, "data"},
		{[]string{"FOO=data x"}, "data"},
		{[]string{"sh <data"}, "data"},
		{[]string{`echo done >> "$CLAUDE_PROJECT_DIR"/data`}, ""},
		{[]string{"sh x.sh >data 2>&1"}, "x.sh"},
		{[]string{"(cat data) >data"}, "data"},
		{[]string{`echo ">" ; sh ./x.sh ; echo ""`}, "x.sh"},
		{[]string{"echo '>' x.sh >data"}, "x.sh"},
		{[]string{"cat >a/y.sh <<E\n. ./x.sh\nE"}, "x.sh"},
		{[]string{"echo > data ("}, "data"},
		{[]string{"cat hooks/*.py"}, "hooks/x.py"},
		{[]string{"a/../x.sh"}, "x.sh"},
		{[]string{dir + "/x.sh"}, "x.sh"},
		{[]string{"./go-x"}, "go-x"},
		{[]string{"./out"}, "out"},
		{[]string{"./gone; ls a hooks; /bin/sh; ../../x; \x00; nothing"}, ""},
		{[]string{"", "  ", "'", `\`, "$", "${", "*", "hooks/*"}, ""},
		{[]string{"a=xxxx" + strings.Repeat(";a=$a$a", 300) + "; cat data"}, "data"},
		{[]string{"data " + strings.Repeat("x", maxDefinition)}, ""},
	}
	for _, tt := range tests {
		if got := strings.Join(FilesNamed(dir, tt.lines...), "|"); got != tt.want {
			t.Errorf("%q names %q, want %q", tt.lines, got, tt.want)
		}
	}
	// The project starts at the root of its repository; files outside did not come with it.
	if got := FilesNamed(filepath.Join(dir, "hooks"), "../x.sh ./x.py"); !slices.Equal(got, []string{"../x.sh", "x.py"}) {
		t.Errorf("in a subfolder: %q", got)
	}
	if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if got := FilesNamed(filepath.Join(dir, "hooks"), "../x.sh ./x.py"); !slices.Equal(got, []string{"x.py"}) {
		t.Errorf("without a repository: %q", got)
	}
}

// Files are found in a folder of any size, and under names of any alphabet.
func TestFilesNamedInALargeFolder(t *testing.T) {
	names := []string{"größe/prüfe.sh"}
	for i := range maxListed + 1 {
		names = append(names, fmt.Sprintf("hooks/%d.sh", i))
	}
	dir := project(t, names...)
	got := FilesNamed(dir, "cd hooks; ./711.sh; sh 17.sh; sh größe/prüfe.sh; sh none.sh")
	if want := []string{"größe/prüfe.sh", "hooks/17.sh", "hooks/711.sh"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A folder may be known under another name.
func TestFilesNamedThroughALink(t *testing.T) {
	dir := project(t, "x.sh")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	got := FilesNamed(dir, "sh "+link+"/x.sh")
	if len(got) != 1 || !strings.HasSuffix(got[0], "link/x.sh") {
		t.Fatalf("%q", got)
	}
	p := Part{Kind: "hook", Name: "x", Definition: "sh", Files: got}
	before, _, err := readPart(dir, p, "")
	write(t, filepath.Join(dir, "x.sh"), "evil")
	after, _, errAfter := readPart(dir, p, "")
	if before == after || err != nil || errAfter != nil {
		t.Errorf("the change of the file is not seen (%v, %v)", err, errAfter)
	}
}

func FuzzFilesNamed(f *testing.F) {
	for _, seed := range []string{"sh x.sh", `"${CLAUDE_PROJECT_DIR}/x.sh"`, "cd hooks && ./x.py", "*", "${", "[", "a=$a$a;$a", "x\x00.sh"} {
		f.Add(seed)
	}
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "x.sh"), nil, 0o600)
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, name := range FilesNamed(dir, line) {
			if filepath.Base(name) != "x.sh" {
				t.Errorf("%q is no file of the folder", name)
			}
		}
	})
}
