package lsp

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/tools"
)

// content returns the text of a file.
func (b *bench) content(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// A rename is planned as one edit of all files, with their diffs, and stores the files for an undo.
func TestRenameIsAPlannedEdit(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		b.taxes()
		tool, call := b.tool(), codeCall("rename", "b.x", 1, "Tax", "Abgabe_日")
		var err error
		if call.Planned, err = tool.Plan(call); err != nil {
			t.Fatal(err)
		}
		act := call.Planned
		if act.Kind != action.FileWrite || act.Tool != "apply_patch" || !act.Mutation || !slices.Equal(act.Paths, []string{b.path("a.x"), b.path("b.x")}) {
			t.Errorf("the plan is %+v", act)
		}
		want(t, "the diff", act.Preview, "edit a.x: +2 -2 lines", "edit b.x: +1 -1 lines", "-def Tax\n", "+def Abgabe_日\n", "+\tuse Abgabe_日, Abgabe_日\n", "+日本 😀 Abgabe_日\r\n")
		var stored []string
		call.Keep = func(all []tools.Before) error {
			for _, one := range all {
				stored = append(stored, string(one.Data))
			}
			return nil
		}
		res := tool.Run(t.Context(), call)
		if res.IsError || res.Content != "Renamed Tax to Abgabe_日 in 2 files:\nedit a.x\nedit b.x" {
			t.Errorf("the result is %+v", res)
		}
		if a, bx := b.content("a.x"), b.content("b.x"); a != "def Abgabe_日\n\tuse Abgabe_日, Abgabe_日\n" || bx != "日本 😀 Abgabe_日\r\ndef Other\r\n" {
			t.Errorf("the files are %q and %q", a, bx)
		}
		if want := []string{"def Tax\n\tuse Tax, Tax\n", "日本 😀 Tax\r\ndef Other\r\n"}; !slices.Equal(stored, want) {
			t.Errorf("stored for an undo: %q", stored)
		}
	})
}

// Only the approved edit is made.
func TestRenameOfChangedFilesIsRefused(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		b.taxes()
		tool, call := b.tool(), codeCall("rename", "b.x", 1, "Tax", "Duty")
		var err error
		if call.Planned, err = tool.Plan(call); err != nil {
			t.Fatal(err)
		}
		b.write("a.x", "def Tax\nanother Tax, by a command\n")
		want(t, "the result", tool.Run(t.Context(), call).Content, "the files changed after this edit was planned, nothing was written")
		if got := b.content("a.x") + b.content("b.x"); strings.Contains(got, "Duty") {
			t.Errorf("written: %q", got)
		}
	})
}

// An edit that is not an edit of the present texts of files in the workspace is refused as a whole.
func TestRenameRefusesHostileEdits(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		b.taxes()
		b.write("secret.x", "Tax\n")
		b.write(".gitignore", "gen/\n")
		b.write(".git/hooks/run.x", "Tax\n")
		b.write("gen/made.x", "Tax\n")
		b.write("bytes.x", "\xff\xfe\x00")
		b.write("returns.x", "Tax\rTax\n")
		outside := t.TempDir()
		if err := errors.Join(os.WriteFile(outside+"/x.x", []byte("Tax\n"), 0o600), os.Symlink(outside, b.path("link"))); err != nil {
			t.Fatal(err)
		}
		good := `{"range":{"start":{"line":0,"character":4},"end":{"line":0,"character":7}},"newText":"Duty"}`
		edit := func(line, from, to int) string {
			return fmt.Sprintf(`{"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}},"newText":"Duty"}`, line, from, line, to)
		}
		of := func(name, edits string) string {
			return fmt.Sprintf(`{"changes":{%q:[%s],%q:[%s]}}`, uriOf(b.path("a.x")), good, name, edits)
		}
		in := func(name string) string { return of(uriOf(b.path(name)), edit(0, 0, 3)) }
		version := func(v string, name string) string {
			return fmt.Sprintf(`{"documentChanges":[{"textDocument":{"uri":%q,"version":%s},"edits":[%s]}]}`, uriOf(b.path(name)), v, good)
		}
		for _, tt := range []struct{ answer, want string }{
			{of("file:///etc/passwd", good), "/etc/passwd: outside the workspace"},
			{of(uriOf(b.path("../x.x")), good), "x.x: outside the workspace"},
			{in("link/x.x"), "link/x.x: outside the workspace"},
			{of("untitled:x", good), "it would edit untitled:x, which is not a file"},
			{in("secret.x"), "secret.x: may hold secrets"},
			{in("gen/made.x"), `"gen/made.x" is ignored by git, so it may be generated`},
			{in(".git/hooks/run.x"), `".git/hooks/run.x" is protected: only a call that names it may change it`},
			{in("none.x"), "none.x is not a text that a language server reads"},
			{in("bytes.x"), "bytes.x is not a text that a language server reads"},
			{in("returns.x"), "returns.x: an edit is in a text with carriage returns inside of lines"},
			{of(uriOf(b.path("b.x")), edit(7, 0, 3)), "b.x: an edit has a position outside of the text"},
			{of(uriOf(b.path("b.x")), edit(-1, 0, 3)), "b.x: an edit has a position outside of the text"},
			{of(uriOf(b.path("b.x")), edit(0, 0, 99)), "b.x: an edit has a position outside of the text"},
			{of(uriOf(b.path("b.x")), edit(0, 4, 5)), "b.x: an edit has a position outside of the text"}, // inside of 😀
			{of(uriOf(b.path("b.x")), edit(0, 3, 1)), "b.x: an edit overlaps another one"},
			{of(uriOf(b.path("b.x")), edit(0, 0, 3)+","+edit(0, 2, 5)), "b.x: an edit overlaps another one"},
			{of(uriOf(b.path("b.x")), `{"range":{"start":{},"end":{}},"snippet":{"value":"x"}}`), "b.x: an edit has no range or no text"},
			{of(uriOf(b.path("b.x")), `{"newText":"x"}`), "b.x: an edit has no range or no text"},
			{`{"documentChanges":[{"kind":"delete","uri":"file:///x"}]}`, "it would delete a file, not only edit texts"},
			{`{"documentChanges":[{"kind":"rename","oldUri":"file:///x","newUri":"file:///y"}]}`, "it would rename a file"},
			{`{"documentChanges":[{"kind":"create","uri":"file:///x"}]}`, "it would create a file"},
			{version("1", "a.x"), "a.x: the edit is for version 1 of the text, the present version is 2; try again"},
			{version("7", "returns.x"), "returns.x: the edit is for version 7 of the text, the present version is 0"},
			{`null`, "checker changes nothing"},
			{`{}`, "checker changes nothing"},
			{`{"changes":17}`, "checker sent an invalid answer"},
			{`[]`, "checker sent an invalid answer"},
		} {
			b.replies("textDocument/rename", tt.answer)
			if got := b.code(codeCall("rename", "b.x", 1, "Tax", "Duty")); !strings.Contains(got, tt.want) {
				t.Errorf("%s:\n%s\nwant:\n%s", tt.answer, got, tt.want)
			}
			if got := b.content("a.x"); got != "def Tax\n\tuse Tax, Tax\n" {
				t.Fatalf("%s: written: %q", tt.answer, got)
			}
		}
		want(t, "a file with secrets", b.code(codeCall("rename", "secret.x", 1, "Tax", "Duty")), "may hold secrets: nothing was written")
		want(t, "a missing file", b.code(codeCall("rename", "A.x", 1, "Tax", "Duty")), "does not exist")
		b.replies("textDocument/rename", version("2", "a.x"))
		want(t, "the right version", b.code(codeCall("rename", "b.x", 1, "Tax", "Duty")), "Renamed Tax to Duty in 1 file:\nedit a.x")
	})
}
