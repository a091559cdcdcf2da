package texts

import (
	"strings"
	"testing"
)

func TestListed(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{`{"path":"a.go","limit":3,"deep":true,"none":null}`, "path: a.go\nlimit: 3\ndeep: true\nnone: none"},
		{`{"edits":[{"old":"a\nb","new":"c"},{"old":"d","new":""}]}`, "edits:\n  - old:\n      a\n      b\n    new: c\n  - old: d\n    new:"},
		{`["a","b",3]`, "a, b, 3"},
		{`["a, b","c"]`, "- a, b\n- c"},
		{`{}`, "none"},
		{` []`, "none"},
		{`{"a":{"b":{"c":1}}}`, "a: b: c: 1"},
		{`{"text":"{\"kept\":1}"}`, `text: {"kept":1}`},
	} {
		if got, ok := Listed(tt.src); got != tt.want || !ok {
			t.Errorf("%s: %q, want %q", tt.src, got, tt.want)
		}
	}
	for _, src := range []string{"", "text", `"text"`, "3", `{"a":`, `{"a":1} and more`, "{a:1}"} {
		if got, ok := Listed(src); ok {
			t.Errorf("%q is no list, got %q", src, got)
		}
	}
}

// Nested values are cut at a depth limit.
func TestListedIsBounded(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 2000) + strings.Repeat(`]}`, 2000)
	if got, ok := Listed(deep); !ok || !strings.Contains(got, "…") || len(got) > 200 {
		t.Errorf("%v, %d bytes: %.200q", ok, len(got), got)
	}
}

func TestMembers(t *testing.T) {
	got, ok := Members("{\"b\":\"x\\ny\",\"a\":[1]}\n[hint: more]")
	if !ok || len(got) != 2 || got[0] != (Member{"b", "x\ny"}) || got[1] != (Member{"a", "1"}) {
		t.Errorf("%v, %q", ok, got)
	}
	for _, src := range []string{"", "x", "[1]", `{"a":1`, `{"a"`, `{"a":1,`} {
		if got, ok := Members(src); ok {
			t.Errorf("%q has no members, got %q", src, got)
		}
	}
}
