package fs

import (
	"strings"
	"testing"
)

func TestGitignore(t *testing.T) {
	tests := []struct {
		rules   string
		ignored []string // a folder ends in /
		kept    []string
	}{
		{"foo", []string{"foo", "foo/", "a/foo"}, []string{"foot", "a/b"}},
		{"foo/", []string{"foo/", "a/foo/"}, []string{"foo", "a/foo"}},
		{"/foo", []string{"foo", "foo/"}, []string{"a/foo"}},
		{"a/foo", []string{"a/foo"}, []string{"b/a/foo", "foo"}},
		{"**/foo", []string{"foo", "a/foo", "a/b/foo"}, []string{"food"}},
		{"foo/**", []string{"foo/a", "foo/a/b"}, []string{"foo/", "foo"}},
		{"a/**/b", []string{"a/b", "a/x/b", "a/x/y/b"}, []string{"b"}},
		{"*.o\n!keep.o", []string{"a.o", "x/b.o"}, []string{"keep.o", "x/keep.o"}},
		{"# comment\n\n  \n\\#x\n\\!y", []string{"#x", "!y"}, []string{"# comment", "x"}},
		{"trail  \nesc\\ ", []string{"trail", "esc "}, []string{"esc"}},
		{"a{b,c}", []string{"a{b,c}"}, []string{"ab"}},
		{"*{b}", []string{"a{b}"}, []string{"ab"}},
		{"x[0-9]", []string{"x1"}, []string{"xa"}},
		{"bad[", nil, []string{"bad[", "bad"}},
		{"crlf\r\nnext\r\n", []string{"crlf", "next"}, nil},
	}
	for _, tt := range tests {
		var rules IgnoreRules
		for line := range strings.Lines(tt.rules) {
			if r, ok := parseIgnore(strings.TrimRight(line, "\r\n"), "/r/"); ok {
				rules = append(rules, r)
			}
		}
		check := func(paths []string, want bool) {
			for _, p := range paths {
				name, dir := strings.CutSuffix(p, "/")
				if got := rules.Ignored("/r/"+name, dir); got != want {
					t.Errorf("%q: ignored(%q) = %v", tt.rules, p, got)
				}
			}
		}
		check(tt.ignored, true)
		check(tt.kept, false)
	}
}
