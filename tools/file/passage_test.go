package file

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestEditShowsWhatLooksTheSame: if the file has the text to replace except for a difference that is hard to see, the
// error names the difference and quotes the exact text, which an edit then finds.
func TestEditShowsWhatLooksTheSame(t *testing.T) {
	for _, tt := range []struct{ name, text, old, line, how, exact string }{
		{"curly quotes", "a\nIt\u2019s \u201clate\u201d.\nb\n", `It's "late".`, "line 2", "has a curly quote (U+2019)", "It\u2019s \u201clate\u201d."},
		{"straight quotes", "say('x')\n", "say(\u2018x\u2019)", "line 1", "has no curly quote (U+2018)", "say('x')"},
		{"a dash", "1\n2\npages 3\u20134\n", "pages 3-4", "line 3", "has a long dash (U+2013)", "pages 3\u20134"},
		{"a no-break space", "v\u00a013 is out", "v 13 is", "line 1", "has a no-break space (U+00A0)", "v\u00a013 is"},
		{"no width", "zero\u200bwidth", "zerowidth", "line 1", "has a character without a width (U+200B)", "zero\u200bwidth"},
		{"decomposed", "un cafe\u0301 noir", "caf\u00e9 noir", "line 1", "has decomposed letters (NFD)", "cafe\u0301 noir"},
		{"composed", "un caf\u00e9 noir", "cafe\u0301", "line 1", "has composed letters (NFC)", "caf\u00e9"},
		{"tabs", "func a() {\n\tif x {\n\t\treturn 1\n\t}\n}\n", "    if x {\n        return 1\n    }\n", "line 2", "has tabs, not spaces", "\tif x {\n\t\treturn 1\n\t}\n"},
		{"spaces", "a:\n    b: 1\n", "a:\n\tb: 1", "line 1", "has spaces, not tabs", "a:\n    b: 1"},
		{"indentation", "if x:\n        y()\n", "    y()", "", "", ""}, // is in the file
		{"how deep", "if x:\n        y()\n        z()\n", "    y()\n    z()", "line 2", "differs in the number of spaces", "        y()\n        z()"},
		{"at the ends of lines", "one  \ntwo\n", "one\ntwo", "line 1", "differs in the number of spaces", "one  \ntwo"},
		{"two traits", "\tIt\u2019s\n", "    It's\n", "line 1", "has a curly quote (U+2019), has tabs, not spaces", "\tIt\u2019s\n"},
		{"CRLF", "a\r\n\tb\r\nc\r\n", "    b\nc\n", "line 2", "has tabs, not spaces", "\tb\nc\n"},
		{"several", "it\u2019s\nit\u2019s\n", "it's", "line 1 (and 1 more)", "has a curly quote (U+2019)", "it\u2019s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.put("f", tt.text)
			b.OK("read_file", args{"path": "f"})
			edit := args{"path": "f", "old_string": tt.old, "new_string": "NEW"}
			if tt.how == "" {
				b.OK("edit_file", edit)
				return
			}
			out, err := b.Do("edit_file", edit)
			b.WantError("edit_file", out, err, "old_string was not found: the text at "+tt.line+" looks the same but "+tt.how+"; as a string of JSON it is ")
			if got := b.content("f"); got != tt.text {
				t.Errorf("the file is %q", got)
			}
			_, quoted, _ := strings.Cut(err, "as a string of JSON it is ")
			var exact string
			if jsonErr := json.Unmarshal([]byte(quoted), &exact); jsonErr != nil || exact != tt.exact {
				t.Fatalf("it shows %s (%v), want %q", quoted, jsonErr, tt.exact)
			}
			edit["old_string"], edit["replace_all"] = exact, true
			b.OK("edit_file", edit)
		})
	}
}

// TestLongPassagesShowWhatDiffers: for a long text only the differing lines are shown.
func TestLongPassagesShowWhatDiffers(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("a line of the text\n", 200)
	b.put("f", long+"it\u2019s\n"+long)
	b.OK("read_file", args{"path": "f"})
	_, err := b.Do("edit_file", args{"path": "f", "old_string": long + "it's\n" + long, "new_string": "x"})
	if !strings.Contains(err, `as strings of JSON line 201 of it is "it\u2019s"`) || len(err) > 1000 {
		t.Errorf("%d bytes: %s", len(err), err)
	}
}

// TestPatchShowsWhatLooksTheSame: the hunk of a patch gets the same help.
func TestPatchShowsWhatLooksTheSame(t *testing.T) {
	b := newBench(t)
	b.put("f", "one\nit\u2019s\ntwo\n")
	b.OK("read_file", args{"path": "f"})
	b.Fails("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: f\n@@\n one\n-it's\n+its\n*** End Patch"},
		`the text at line 1 looks the same but has a curly quote (U+2019); as a string of JSON it is "one\nit\u2019s"`)
}

// FuzzPassage: a passage made of lines of a text equals these lines when the traits are ignored; and no text to look
// for causes a panic.
func FuzzPassage(f *testing.F) {
	f.Add("It\u2019s\tcafe\u0301 \r\n\ttwo\n", "It's caf\u00e9")
	f.Add("\u00a0\u200b x\n\n", " x")
	f.Add("e\u0301\n", "\u200b")
	f.Add("x", "")
	f.Fuzz(func(t *testing.T, text, want string) {
		for _, ignored := range []trait{everyTrait &^ (cased | blanks), everyTrait &^ cased, everyTrait} {
			in := foldText(text, ignored)
			if len(in.at) != len(in.text)+1 || !slices.IsSorted(in.at) || int(in.at[len(in.text)]) > len(text) {
				t.Fatalf("offsets %v for %d bytes of %d", in.at, len(in.text), len(text))
			}
			from := 0
			for line := range bytes.Lines(in.text) {
				to := from + len(line)
				if _, there := in.passage(text, from, to, want); strings.TrimSpace(fold(there, everyTrait)) != strings.TrimSpace(fold(string(line), everyTrait)) {
					t.Fatalf("%q comes from %q", line, there)
				}
				from = to
			}
		}
		passageLike(text, want)
	})
}
