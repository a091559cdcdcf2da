package headless

import (
	"os"
	"strings"
	"testing"

	"buddy/app/input"
)

// What is piped in belongs to the prompt; what is not a pipe is left alone.
func TestReadPrompt(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, tt := range []struct {
		name  string
		args  []string
		piped string // "none" is /dev/null
		want  string
		fault string
	}{
		{"argument alone", []string{"hello"}, "none", "hello", ""},
		{"argument and pipe", []string{"hello"}, "text\n", "hello\n\n<stdin>\ntext\n</stdin>", ""},
		{"an empty pipe", []string{"hello"}, " \n", "hello", ""},
		{"pipe alone", nil, "text\n", "text\n", ""},
		{"a dash", []string{"-"}, "text\n", "text\n", ""},
		{"not UTF-8", nil, "a\xffb", "a\uFFFDb", ""},
		{"nothing", nil, "none", "", "exec takes a PROMPT"},
		{"a dash and nothing", []string{"-"}, "none", "", "the prompt is empty"},
		{"an empty argument", []string{" "}, "text", "", "the prompt is empty"},
		{"too much", nil, strings.Repeat("x", input.MaxPrompt+1), "", "larger than 4 MiB"},
	} {
		stdin := null
		if tt.piped != "none" {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = w.WriteString(tt.piped)
				_ = w.Close()
			}()
			defer r.Close()
			stdin = r
		}
		got, err := ReadPrompt(tt.args, stdin, nil, os.Stderr)
		if got.text != tt.want && tt.fault == "" || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %q, %v, want %q, %q", tt.name, got.text, err, tt.want, tt.fault)
		}
	}
}
