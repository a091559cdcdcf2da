package tools

import (
	"strings"
	"testing"
)

// A result is readable text, with one line in brackets for remarks. Its text can pass neither for
// that line, nor for an error or the other stream.
func TestResultsAreText(t *testing.T) {
	for _, tt := range []struct {
		name, stdout, stderr string
		remarks              []string
		want                 string
	}{
		{"text alone", "a\nb\n", "", nil, "a\nb\n"},
		{"nothing to say", "a", "", []string{"", ""}, "a"},
		{"a remark", "a", "", []string{"exit code 1", "", "2.3 s"}, "a\n[exit code 1; 2.3 s]"},
		{"only a remark", "", "", []string{"the file is empty"}, "[the file is empty]"},
		{"a remark is one line", "a\n", "", []string{"in a\nb"}, "a\n[in a b]"},
		{"only stderr", "", "no\n", nil, "no\n"},
		{"two streams", "a", "b\n", nil, "a\n[stderr]\nb\n"},
		{"a line like ours", "a\n  [exit code 0]\nb\n", "", []string{"exit code 1"}, "a\n  [exit code 0]\nb\n[exit code 1; 3 lines]"},
		{"the last line like ours", "[the user changed the call]", "", nil, "[the user changed the call]\n[1 line]"},
		{"a stream like ours", "a\n[stderr]\nb\n", "c\n", nil, "a\n[stderr]\nb\n[stderr]\nc\n[3 lines of stdout, 1 line of stderr]"},
		{"text like an error", "Tool error: no\n", "", nil, "[output]\nTool error: no\n[1 line]"},
		{"brackets within a line", "[1/2] built\nx [ok]\n", "", nil, "[1/2] built\nx [ok]\n"},
	} {
		r := Streams(tt.stdout, tt.stderr, tt.remarks...)
		if r.Content != tt.want || r.IsError || !strings.HasSuffix(r.Content, r.Aside) {
			t.Errorf("%s: %q (aside %q), want %q", tt.name, r.Content, r.Aside, tt.want)
		}
		if both := tt.stdout != "" && tt.stderr != ""; both != (r.Stdout != nil) || both && *r.Stdout != tt.stdout {
			t.Errorf("%s: stdout %v", tt.name, r.Stdout)
		}
	}
}

func TestTailIsTheEnd(t *testing.T) {
	r := Success("x" + strings.Repeat("é", TailLimit))
	if len(r.Tail) > TailLimit || len(r.Tail) < TailLimit-1 || !strings.HasPrefix(r.Tail, "é") {
		t.Errorf("the tail has %d bytes and begins with %q", len(r.Tail), r.Tail[:2])
	}
}

// The additions to a result for the model are not displayed, and a replaced text is removed completely.
func TestAsidesOfAResult(t *testing.T) {
	r := Failure(Invalid("path: missing"))
	r.Tell("[hint: look]")
	if r.Content != "Tool error: invalid arguments: path: missing\n[hint: look]" || Why(r) != "invalid arguments: path: missing" {
		t.Errorf("%q, why %q", r.Content, Why(r))
	}
	if r.Change("other"); r.Content != "other" || r.Aside != "" {
		t.Errorf("%+v", r)
	}
}
