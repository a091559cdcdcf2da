package file

import (
	"strings"
	"testing"
	"unicode/utf16"

	"buddy/tools"
)

// utf16LE returns text in little-endian UTF-16 with a byte order mark.
func utf16LE(text string) string {
	var b strings.Builder
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(text))...) {
		b.Write([]byte{byte(u), byte(u >> 8)})
	}
	return b.String()
}

func TestChangedFileKeepsItsEncoding(t *testing.T) {
	const latin = "gr\xf6\xdfe\nzwei\n"
	tests := []struct {
		name, file, tool string
		a                args
		want             string
		preview          string
	}{
		{"edit", latin, "edit_file", args{"old_string": "zwei", "new_string": "für"}, "gr\xf6\xdfe\nf\xfcr\n", "+1 -1 lines, 11 → 10 bytes in Windows-1252\n--- f\n+++ f\n@@ -1,2 +1,2 @@\n größe\n-zwei\n+für\n"},
		{"text that is not ASCII", latin, "edit_file", args{"old_string": "größe", "new_string": "„€“"}, "\x84\x80\x93\nzwei\n", "-größe\n+„€“\n"},
		{"several edits", latin, "edit_file", args{"edits": []any{args{"old_string": "größe", "new_string": "ä"}, args{"old_string": "zwei", "new_string": "ö"}}}, "\xe4\n\xf6\n", "+ä\n+ö\n"},
		{"patch", latin, "apply_patch", args{"patch": "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n größe\n-zwei\n+für\n"}, "gr\xf6\xdfe\nf\xfcr\n", " größe\n-zwei\n+für\n"},
		{"written whole", latin, "write_file", args{"content": "für\n"}, "f\xfcr\n", "-größe\n-zwei\n+für\n"},
		{"bytes without a character", "\x81\x8d\x8f\x90\x9d\xe4a\n", "edit_file", args{"old_string": "a", "new_string": "b"}, "\x81\x8d\x8f\x90\x9d\xe4b\n", ""},
		{"UTF-16", utf16LE("größe\r\nzwei\r\n"), "edit_file", args{"old_string": "zwei", "new_string": "世界\n😀"}, utf16LE("größe\r\n世界\r\n😀\r\n"), "28 → 32 bytes in UTF-16\n"},
		{"UTF-16, big end first", "\xfe\xff\x00a", "edit_file", args{"old_string": "a", "new_string": "ä"}, "\xfe\xff\x00\xe4", "-a\n\\ No newline at end of file\n+ä\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.put("f", tt.file)
			b.OK("read_file", args{"path": "f"})
			if tt.tool != "apply_patch" {
				tt.a["path"] = "f"
			}
			call, planErr := b.Plan(tt.tool, tt.a)
			if planErr != "" {
				t.Fatal(planErr)
			}
			if !strings.Contains(call.Planned.Preview, tt.preview) {
				t.Errorf("preview:\n%s\nwant:\n%s", call.Planned.Preview, tt.preview)
			}
			var kept []tools.Before
			call.Keep = func(files []tools.Before) error { kept = files; return nil }
			if _, err := b.Finish(call); err != "" {
				t.Fatal(err)
			}
			if got := b.content("f"); got != tt.want {
				t.Errorf("the file has %q, want %q", got, tt.want)
			}
			if text, _, err := b.ws.Difference(t.Context(), kept, "# "); err != nil || strings.Contains(text, "not text") {
				t.Errorf("difference: %v\n%s", err, text)
			}
			if _, err := b.ws.Restore(t.Context(), kept, false); err != nil || b.content("f") != tt.file {
				t.Errorf("restored: %v, %q", err, b.content("f"))
			}
		})
	}
}

func TestEncodingThatCannotBeKeptIsRefused(t *testing.T) {
	const lost = "\"latin\": the file is Windows-1252, which has no '世' (U+4E16); use other characters, or convert the file to UTF-8 with a command first"
	odd := utf16LE("a\n") + "\x00\xd8" // half of a surrogate pair
	b := newBench(t)
	b.put("latin", "caf\xe9\n", "odd", odd)
	b.OK("read_file", args{"path": "latin"})
	b.OK("read_file", args{"path": "odd"})
	b.Fails("edit_file", args{"path": "latin", "old_string": "caf", "new_string": "世"}, lost)
	b.Fails("write_file", args{"path": "latin", "content": "世"}, lost)
	b.Fails("apply_patch", args{"patch": "--- a/latin\n+++ b/latin\n@@ -1 +1,2 @@\n café\n+世\n"}, lost)
	if b.content("latin") != "caf\xe9\n" || b.content("odd") != odd {
		t.Errorf("the files have %q, %q", b.content("latin"), b.content("odd"))
	}
	b.OK("edit_file", args{"path": "odd", "old_string": "a", "new_string": "b"})
	if got := b.content("odd"); got != utf16LE("b\n")+"\x00\xd8" {
		t.Errorf("the file has %q", got)
	}
	b.OK("write_file", args{"path": "odd", "content": "b\n"})
	if got := b.content("odd"); got != utf16LE("b\n") {
		t.Errorf("the file has %q", got)
	}
}

func TestGrepDecodesFiles(t *testing.T) {
	b := newBench(t)
	b.put("latin", "eins\ngr\xf6\xdfe\n", "utf8", "größe\n", "wide", utf16LE("eins\r\ngröße\r\n"))
	for _, pattern := range []string{"größe", "gr..e$", "(?i)GRÖßE"} {
		if got := b.OK("grep", args{"pattern": pattern}); got.Text != "latin:2:größe\nutf8:1:größe\nwide:2:größe\n" || got.Note != "" {
			t.Errorf("grep %s = %q, %v", pattern, got.Text, got.Note)
		}
	}
	if got := b.OK("grep", args{"pattern": "größe", "path": "latin"}); got.Text != "latin:2:größe\n" {
		t.Errorf("grep in a file = %v", got)
	}
}

func TestWrittenFileKeepsItsLineEnds(t *testing.T) {
	tests := []struct{ name, old, content, want string }{
		{"CRLF", "a\r\nb\r\n", "one\nTWO\n", "one\r\nTWO\r\n"},
		{"CRLF, own line ends given", "a\r\nb\r\n", "one\r\nTWO\n", "one\r\nTWO\n"},
		{"mixed", "a\r\nb\n", "one\nTWO\n", "one\r\nTWO\n"},
		{"mixed, a line between", "a\r\nb\nc\r\n", "a\nnew\nb\nc\n", "a\r\nnew\r\nb\nc\r\n"},
		{"mixed, a line less", "a\r\nb\nc\n", "b\nc", "b\nc"},
		{"LF", "a\nb\n", "one\r\n", "one\r\n"},
		{"one line without an end", "a", "one\n", "one\n"},
		{"byte order mark", "\ufeffa\n", "one\n", "\ufeffone\n"},
		{"byte order mark given", "\ufeffa\n", "\ufeffone\n", "\ufeffone\n"},
		{"byte order mark, emptied", "\ufeffa\n", "", ""},
		{"both", "\ufeffa\r\n", "one\n", "\ufeffone\r\n"},
		{"UTF-16", utf16LE("a\r\n"), "one\n", utf16LE("one\r\n")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.put("f", tt.old)
			b.OK("read_file", args{"path": "f"})
			b.OK("write_file", args{"path": "f", "content": tt.content})
			if got := b.content("f"); got != tt.want {
				t.Errorf("the file has %q, want %q", got, tt.want)
			}
		})
	}
}
