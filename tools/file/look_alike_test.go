package file

import (
	"os"
	"strings"
	"testing"
)

// alikeNames lists existing names, other names that look the same, and how they differ.
var alikeNames = []struct{ there, given, shown, how string }{
	{"cafe\u0301.txt", "caf\u00e9.txt", `"cafe\u0301.txt"`, "has decomposed letters (NFD)"},
	{"caf\u00e9.txt", "cafe\u0301.txt", `"café.txt"`, "has composed letters (NFC)"},
	{"shot 1.05\u202fPM.txt", "shot 1.05 PM.txt", `"shot 1.05\u202fPM.txt"`, "has a narrow no-break space (U+202F)"},
	{"Sn\u00edmek v\u00a013.txt", "Sn\u00edmek v 13.txt", `"Snímek v\u00a013.txt"`, "has a no-break space (U+00A0)"},
	{"a b.txt", "a\u00a0b.txt", `"a b.txt"`, "has no no-break space (U+00A0)"},
	{"Capture d\u2019e.txt", "Capture d'e.txt", `"Capture d\u2019e.txt"`, "has a curly quote (U+2019)"},
	{"1\u20132.txt", "1-2.txt", `"1\u20132.txt"`, "has a long dash (U+2013)"},
	{"zero\u200bwidth.txt", "zerowidth.txt", `"zero\u200bwidth.txt"`, "has a character without a width (U+200B)"},
	{"two  blanks.txt", "two blanks.txt", `"two \u0020blanks.txt"`, "differs in the number of spaces"},
	{"README.md", "readme.md", `"README.md"`, "differs in case"},
	{"Sub Dir/Main.go", "sub\u00a0dir/main.go", `"Sub Dir/Main.go"`, "has no no-break space (U+00A0), differs in case"},
	{"main.ts", "main.js", `"main.ts"`, "has another ending"},
	{"caf\xe9.txt", "caf\ufffd.txt", "\"caf\ufffd.txt\"", "has bytes that are not UTF-8"},
	{"LICENSE", "LICENSE.txt", `"LICENSE"`, "has another ending"},
	{"main.go", "main.go:12", `"main.go"`, `has no ":12" in its name; offset takes a line`},
	{"main.go", "main.go:12:3", `"main.go"`, `has no ":12:3" in its name; offset takes a line`},
	{"sub/main.go", "sub/main.go#L10-L20", `"sub/main.go"`, `has no "#L10-L20" in its name; offset takes a line`},
}

// TestReadsWhatLooksTheSame: reading a name that does not exist reads the only similar file and adds a note; a change
// never does.
func TestReadsWhatLooksTheSame(t *testing.T) {
	for i, tt := range alikeNames {
		if onTarget != nil && i%4 > 0 { // each case takes seconds there
			continue
		}
		t.Run(tt.given, func(t *testing.T) {
			b := newBench(t)
			b.put(tt.there, "found\n")
			if got := b.OK("read_file", args{"path": tt.given}); got.Text != "found\n" || !strings.HasSuffix(got.Note, " does not exist: this is "+tt.shown+", which "+tt.how) || !strings.HasPrefix(strings.TrimPrefix(got.Note, `"`), tt.given[:1]) {
				t.Errorf("read_file = %+v", got)
			}
			if got := b.OK("grep", args{"pattern": "found", "path": tt.given}); !strings.HasSuffix(got.Text, ":1:found\n") || !strings.Contains(got.Note, tt.how) {
				t.Errorf("grep = %+v", got)
			}
			b.Fails("edit_file", args{"path": tt.given, "old_string": "found", "new_string": "lost"}, "does not exist; did you mean "+tt.shown+", which "+tt.how+"?")
			b.Fails("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: " + tt.given + "\n@@\n-found\n+lost\n*** End Patch"}, "did you mean "+tt.shown)
			b.OK("write_file", args{"path": tt.given, "content": "new\n"})
			if got := b.content(tt.there) + b.content(tt.given); got != "found\nnew\n" {
				t.Errorf("the files are %q", got)
			}
		})
	}
}

// TestSeveralLookAlikesAreOffered: with several similar files none is read.
func TestSeveralLookAlikesAreOffered(t *testing.T) {
	b := newBench(t)
	b.put("Readme.md", "a\n", "README.MD", "b\n", "app.ts", "", "app.css", "", ".env", "", "x/y", "")
	b.Fails("read_file", args{"path": "readme.md"}, `"readme.md": file does not exist; did you mean "README.MD", which differs in case; or "Readme.md", which differs in case?`)
	b.Fails("read_file", args{"path": "app.js"}, `did you mean "app.css", which has another ending; or "app.ts", which has another ending?`)
	for _, name := range []string{"none.md", ".envrc", "x/none", "y"} {
		if _, err := b.Do("read_file", args{"path": name}); !strings.Contains(err, "does not exist") || strings.Contains(err, "mean") {
			t.Errorf("%s: %q", name, err)
		}
	}
	b.put("src.go", "")
	for tool, a := range map[string]args{"list_dir": {"path": "src"}, "glob": {"path": "src", "pattern": "*"}} {
		b.Fails(tool, a, `(src does not exist: this is "src.go", which has another ending)`)
	}
	b.put("readme.md", "c\n")
	if got := b.OK("read_file", args{"path": "readme.md"}); got.Text != "c\n" || got.Note != "" {
		t.Errorf("the file that is named: %+v", got)
	}
}

// TestReadsWhatIsWhereTheShellIs: a file that is missing in the first folder is read from the shell's folder; the error
// names a file that is missing in both.
func TestReadsWhatIsWhereTheShellIs(t *testing.T) {
	b := newBench(t)
	b.put("package.json", "root\n", "packages/foo/package.json", "foo\n", "packages/foo/n.txt", "needle\n")
	b.inFolder("packages/foo")
	if got := b.OK("read_file", args{"path": "n.txt"}); got.Text != "needle\n" ||
		got.Note != `n.txt does not exist: this is "packages/foo/n.txt", which is where the shell is; relative paths start in the first folder` {
		t.Errorf("n.txt = %+v", got)
	}
	if got := b.OK("read_file", args{"path": "package.json"}); got.Text != "root\n" || got.Note != "another file of this name is where the shell is: "+b.path("packages/foo/package.json") {
		t.Errorf("package.json = %+v", got)
	}
	if got := b.OK("read_file", args{"path": b.path("package.json")}); got.Note != "" {
		t.Errorf("by its absolute path: %+v", got)
	}
}

// TestLookAlikesOutsideTheWorkspace: outside the workspace only names that look identical count, and the plan has the
// existing path, which the policy judges.
func TestLookAlikesOutsideTheWorkspace(t *testing.T) {
	b := newBench(t)
	outside := b.outside()
	for _, name := range []string{"Shot\u202f1.txt", "other.ts"} {
		must(t, os.WriteFile(outside+"/"+name, []byte("found\n"), 0o644))
	}
	if call, err := b.Plan("read_file", args{"path": outside + "/shot 1.txt"}); err != "" || call.Planned.Path != outside+"/Shot\u202f1.txt" {
		t.Errorf("plan %+v, %s", call.Planned, err)
	}
	if call, err := b.Plan("read_file", args{"path": outside + "/other.js"}); err != "" || call.Planned.Path != outside+"/other.js" || call.Planned.Op != "" {
		t.Errorf("plan %+v, %s", call.Planned, err)
	}
}

// TestNewFilesThatLookLikeOthers: a new file whose name looks like that of an existing one is created, and the result
// names the other.
func TestNewFilesThatLookLikeOthers(t *testing.T) {
	b := newBench(t)
	b.put("v\u00a013.txt", "x\n", "main.ts", "x\n", "old.txt", "x\n")
	const note = `there is also "v\u00a013.txt", which has a no-break space (U+00A0)`
	if got := b.OK("write_file", args{"path": "v 13.txt", "content": "y\n"}); got.Note != note {
		t.Errorf("write_file: %+v", got)
	}
	must(t, os.Remove(b.path("v 13.txt")))
	if got := b.OK("apply_patch", args{"patch": "*** Begin Patch\n*** Add File: v 13.txt\n+y\n*** End Patch"}); got.Note != note {
		t.Errorf("apply_patch: %+v", got)
	}
	if got := b.OK("write_file", args{"path": "main.ts:12", "content": "y\n"}); !strings.Contains(got.Note, `there is also "main.ts", which has no ":12" in its name`) {
		t.Errorf("a line behind the name: %+v", got)
	}
	if got := b.OK("write_file", args{"path": "main.js", "content": "y\n"}); got.Note != "" {
		t.Errorf("another ending: %+v", got)
	}
	b.OK("read_file", args{"path": "old.txt"})
	if got := b.OK("apply_patch", args{"patch": "*** Begin Patch\n*** Delete File: old.txt\n*** Add File: OLD.txt\n+y\n*** End Patch"}); got.Note != "" {
		t.Errorf("a new name for a deleted file: %+v", got)
	}
}
