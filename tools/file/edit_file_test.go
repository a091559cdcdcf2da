package file

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// replace makes one replacement in a text.
func replace(text, before, after string, all bool) (string, int, error) {
	parts, err := replacements(text, before, after, all)
	if err != nil {
		return "", len(parts), err
	}
	d, err := document{nil, []byte(text), text}.splice(parts, false)
	return string(d.data), len(parts), err
}

func TestReplace(t *testing.T) {
	tests := []struct {
		name, text, before, after string
		all                       bool
		want                      string
		count                     int
		err                       string
	}{
		{"once", "a b c", "b", "x", false, "a x c", 1, ""},
		{"delete", "a b c", " b", "", false, "a c", 1, ""},
		{"all", "a b a", "a", "aa", true, "aa b aa", 2, ""},
		{"all, once there", "a b", "a", "x", true, "x b", 1, ""},
		{"several", "a\nb\na\nb a", "a", "x", false, "", 0, "old_string occurs 3 times, at lines 1, 3, 4; add lines around it, or set replace_all"},
		{"overlapping", "aaa", "aa", "x", false, "", 0, "old_string occurs 2 times, at lines 1, 1"},
		{"very many", strings.Repeat("a\n", 5000), "a", "x", false, "", 0, "old_string occurs at least 1000 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …"},
		{"dollar is text", "cost $1", "$1", "$2 ${x}", false, "cost $2 ${x}", 1, ""},
		{"CRLF lines", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false, "x\r\ny\r\nz\r\nc\r\n", 1, ""},
		{"CRLF given", "a\r\nb\r\n", "a\r\nb", "x\r\ny", false, "x\r\ny\r\n", 1, ""},
		{"CRLF, one line becomes two", "a\r\nb\r\n", "b", "x\ny", false, "a\r\nx\r\ny\r\n", 1, ""},
		{"mostly CRLF, LF part", "a\r\nb\nc\r\nd\r\n", "b\nc", "x\ny", false, "a\r\nx\ny\r\nd\r\n", 1, ""},
		{"LF, stray CR", "a\nb\r\nc\n", "a\nb", "x", false, "x\r\nc\n", 1, ""},
		{"BOM", "\ufeffa\n", "a", "b", false, "\ufeffb\n", 1, ""},
		{"no final newline", "a\nb", "b", "c", false, "a\nc", 1, ""},
		{"unicode", "grüße 世界 👩‍👩‍👧", "世界", "welt", false, "grüße welt 👩‍👩‍👧", 1, ""},
		{"keeps bytes that are no text", "\xff\xfe a \xff", "a", "b", false, "\xff\xfe b \xff", 1, ""},
		{"typo", "func a() {\n\treturn 1\n}\n", "func a() {\n\treturn 2\n}", "", false, "", 0, `the nearest text differs at line 2, "\treturn 1"; old_string has "\treturn 2" there`},
		{"white space", "func a() {\n\treturn 1\n}\n", "func a() {\n    return 1\n}", "", false, "", 0, `the text at line 1 looks the same but has tabs, not spaces; as a string of JSON it is "func a() {\n\treturn 1\n}"`},
		{"white space within", "a\nf(a, b)\n", "f(a,b)", "", false, "", 0, `differs at line 2, "f(a, b)", which differs only in white space; old_string has "f(a,b)" there`},
		{"nothing like it", "one\ntwo\n", "zzzzzzzz", "", false, "", 0, "nor a line like its first; read the file again"},
		{"past the end", "one\ntwo\n", "two\nthree", "", false, "", 0, "it matches from line 2 on, but the file ends before it"},
		{"mixed line ends", "a\r\nb\nc\r\nd\n", "a\nb\nc\n", "x\ny\nz\n", false, "x\r\ny\nz\r\nd\n", 1, ""},
		{"mixed line ends, more lines", "a\r\nb\nc\nd\n", "a\nb", "x\ny\nz", false, "x\r\ny\nz\nc\nd\n", 1, ""},
		{"mixed line ends, fewer lines", "a\r\nb\nc\n", "a\nb\n", "x\n", false, "x\r\nc\n", 1, ""},
		{"mixed line ends, all", "a\nb\nx\r\na\r\nb\n", "a\nb", "c\nd", true, "c\nd\nx\r\nc\r\nd\n", 2, ""},
		{"mixed line ends, several", "a\nb\na\r\nb\n", "a\nb", "c", false, "", 0, "occurs 2 times, at lines 1, 3"},
		{"a carriage return before a line end", "a\r\r\nb\r\n", "\nb", "", false, "a\r\r\n", 1, ""},
		{"a line end itself", "a\nb\r\n", "a\n", "a\r\n", false, "a\r\nb\r\n", 1, ""},
		{"long line", strings.Repeat("x", 1000), strings.Repeat("x", 999) + "y", "", false, "", 0, "x…"},
		{"empty file", "", "a", "b", false, "", 0, "not found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, count, err := replace(tt.text, tt.before, tt.after, tt.all)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("replace = %q, %v, want error %q", got, err, tt.err)
				}
				return
			}
			if err != nil || got != tt.want || count != tt.count {
				t.Errorf("replace = %q, %d, %v, want %q, %d", got, count, err, tt.want, tt.count)
			}
		})
	}
}

func TestEditFile(t *testing.T) {
	b := newBench(t)
	b.put("a.go", "x := 1\ny := 1\n")
	must(t, os.Chmod(b.path("a.go"), 0o640))
	edit := func(before, after string) args {
		return args{"path": "a.go", "old_string": before, "new_string": after}
	}
	b.Fails("edit_file", edit("x := 1", "x := 2"), "execution failed", "was not read since this session began or was resumed, nothing was written; read it first")
	b.OK("read_file", args{"path": "a.go"})
	b.Fails("edit_file", edit("1", "2"), "occurs 2 times, at lines 1, 2")
	b.Fails("edit_file", edit("", "2"), "old_string: must not be empty")
	b.Fails("edit_file", edit("1", "1"), "nothing would change")
	if got := b.OK("edit_file", edit("x := 1", "x := 2")); got.Text != "Edited a.go: 1 replacement" {
		t.Errorf("edit = %v", got)
	}
	all := edit("y", "z")
	all["replace_all"] = true
	b.OK("edit_file", all) // an edit after an edit needs no new read
	if info, err := os.Stat(b.path("a.go")); err != nil || info.Mode() != 0o640 || b.content("a.go") != "x := 2\nz := 1\n" {
		t.Errorf("%v %v %q", info.Mode(), err, b.content("a.go"))
	}
	b.Fails("edit_file", args{"path": "none", "old_string": "a", "new_string": "b"}, "does not exist; write_file creates it")
	b.OK("write_file", args{"path": "made", "content": "one\n"})
	b.OK("edit_file", args{"path": "made", "old_string": "one", "new_string": "two"}) // a write counts as a read
}

func TestEditFileChangedSinceRead(t *testing.T) {
	b := newBench(t)
	edit := args{"path": "a", "old_string": "mine", "new_string": "new"}
	b.put("a", "mine\n")
	b.OK("read_file", args{"path": "a"})
	info, err := os.Stat(b.path("a"))
	must(t, err)
	b.put("a", "mine!") // same length and same time as before
	must(t, os.Chtimes(b.path("a"), time.Time{}, info.ModTime()))
	b.Fails("edit_file", edit, "changed since you last read it, nothing was written; read it again")
	b.put("a", "mine\n") // the same content is no change
	call, planErr := b.Plan("edit_file", edit)
	if planErr != "" {
		t.Fatal(planErr)
	}
	b.put("a", "mine\nand theirs\n") // while a person thinks
	payload, runErr := b.Finish(call)
	b.WantError("edit_file", payload, runErr, "changed since you last read it")
	if b.content("a") != "mine\nand theirs\n" {
		t.Errorf("the file has %q", b.content("a"))
	}
	b.OK("read_file", args{"path": "a"})
	payload, runErr = b.Finish(call) // read again, but another diff was approved
	b.WantError("edit_file", payload, runErr, "changed after this call was planned")
}

// No edit that runs at the same time as others is lost: it is in the file or was refused.
func TestEditFileConcurrently(t *testing.T) {
	b := newBench(t)
	n := 20
	if onTarget != nil {
		n = 5 // an edit is tried again after each other one, with some commands between them
	}
	b.put("a", numbered(n))
	b.OK("read_file", args{"path": "a"})
	results := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for results[i] == "" {
				call, err := b.Plan("edit_file", args{"path": "a", "old_string": fmt.Sprintf("line %d\n", i+1), "new_string": fmt.Sprintf("done %d\n", i+1)})
				if err != "" {
					if !strings.Contains(err, "changed since") {
						results[i] = err
					}
					continue
				}
				if _, err := b.Finish(call); err == "" {
					results[i] = "ok"
				} else if !strings.Contains(err, "was planned") {
					results[i] = err
				}
			}
		})
	}
	wg.Wait()
	for i, r := range results {
		if r != "ok" {
			t.Errorf("edit %d: %s", i+1, r)
		}
	}
	if want := strings.ReplaceAll(numbered(n), "line", "done"); b.content("a") != want {
		t.Errorf("the file has %q", b.content("a"))
	}
}

// Everything outside the replaced text stays, and the reverse edit restores the text.
func FuzzReplace(f *testing.F) {
	f.Add("a\r\nb\r\n", "a\nb", "c\nd", false)
	f.Add("aaa", "aa", "b", true)
	f.Add("x\n\xff\n", "x", "\r\n", false)
	f.Add("\n", "\n\n", "a", false)
	f.Fuzz(func(t *testing.T, text, before, after string, all bool) {
		if before == "" || before == after {
			return
		}
		got, count, err := replace(text, before, after, all)
		once := len(occurrences(text, before)) == 1
		if err != nil {
			if got != "" || count != 0 || once || all && strings.Contains(text, before) {
				t.Errorf("replace(%q, %q, %q, %v) = %q, %d, %v", text, before, after, all, got, count, err)
			}
			return
		}
		if count < 1 || !all && count != 1 {
			t.Errorf("replace(%q, %q, %q, %v) counts %d", text, before, after, all, count)
		}
		plain := strings.Replace(text, before, after, count)
		bare := strings.Replace(toLF(text), toLF(before), toLF(after), count)
		if got != plain && (toLF(got) != bare || !strings.Contains(text, "\r\n")) {
			t.Errorf("replace(%q, %q, %q, %v) = %q", text, before, after, all, got)
		}
	})
}
