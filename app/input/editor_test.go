package input

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEditText(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // other programs are in the usual one
	script := filepath.Join(t.TempDir(), "my editor")
	body := "#!/bin/sh\nls -l \"$2\" | cut -c1-10 >>\"$2\"\necho \"$1\" >>\"$2\"\n"
	if err := os.WriteFile(script, []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := EditText("prompt.md", "draft\n", "'"+script+"' --wait")
	if want := "draft\n-rw-------\n--wait\n"; got != want || err != nil {
		t.Errorf("edited %q, %v, want %q", got, err, want)
	}
	if _, err := EditText("x", "draft", "false"); err == nil || !strings.Contains(err.Error(), `editor "false": exit status 1; the text is unchanged`) {
		t.Errorf("an editor that fails: %v", err)
	}
	if _, err := EditText("x", "draft", "rm"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("an editor that removes the file: %v", err)
	}
	if _, err := EditText("x", "", "head -c 9000000 /dev/zero >"); err == nil || !strings.Contains(err.Error(), "more than 8 MB") {
		t.Errorf("an editor that leaves too much: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "buddy-edit-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
