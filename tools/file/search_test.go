package file

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"buddy/texts"
	"buddy/tools"
)

func TestListDir(t *testing.T) {
	b := newBench(t)
	b.put("b.txt", "12345", "a/x/deep", "", "a/y", "1", "a-b", "", ".git/HEAD", "x", ".hidden", "", "tricky\x1b[31m", "", "zwölf", "")
	b.link("b.txt", "link")
	b.link("/etc", "out")
	b.odd()
	must(t, os.Remove(b.path("folder")))
	_ = os.Remove(b.path("s"))
	tests := []struct {
		a    args
		want string
	}{
		{args{}, ".git/\n.hidden 0\na/\na-b 0\nb.txt 5\nfifo (FIFO)\nlink -> b.txt\nout -> /etc\n\"tricky\\x1b[31m\" 0\nzwölf 0\n"},
		{args{"path": "a", "depth": 2}, "x/\nx/deep 0\ny 1\n"},
		{args{"depth": 2}, ".git/\n.hidden 0\na/\na/x/\na/y 1\na-b 0\nb.txt 5\nfifo (FIFO)\nlink -> b.txt\nout -> /etc\n\"tricky\\x1b[31m\" 0\nzwölf 0\n"},
	}
	for _, tt := range tests {
		if got := b.OK("list_dir", tt.a); got.Text != tt.want || got.Note != "" {
			t.Errorf("list_dir(%v) = %v\nwant %q", tt.a, got, tt.want)
		}
	}
	must(t, os.Mkdir(b.path("a/empty"), 0o755))
	if got := b.OK("list_dir", args{"path": "a/empty"}); got.Note != "the folder is empty" {
		t.Errorf("list_dir = %v", got)
	}
	b.Fails("list_dir", args{"depth": 4}, "depth: expected integer from 1 to 3, got 4")
}

func TestListDirIsBounded(t *testing.T) {
	b := newBench(t)
	for i := range 600 {
		b.put(fmt.Sprintf("big/%04d", i), "")
	}
	b.put("small/x", "", "z", "")
	got := b.OK("list_dir", args{"depth": 2})
	entries := got.Text
	// The listing goes level by level: it includes the siblings of the large folder.
	if strings.Count(entries, "\n") != listLimit || !strings.HasPrefix(entries, "big/\nbig/0000 0\n") || !strings.HasSuffix(entries, "small/\nz 0\n") {
		t.Errorf("%d entries, the last: %q", strings.Count(entries, "\n"), entries[len(entries)-40:])
	}
	if got.Note != "104 more entries are not shown; list a subfolder, or use glob" {
		t.Errorf("note = %v", got.Note)
	}
}

func TestLongNamesAreBounded(t *testing.T) {
	b := newBench(t)
	for i := range 150 {
		b.put(fmt.Sprintf("%s%03d", strings.Repeat("n", 250), i), "")
	}
	list := b.OK("list_dir", args{})
	if n := strings.Count(list.Text, "\n"); n != 78 || list.Note != "72 more entries are not shown; list a subfolder, or use glob" {
		t.Errorf("list_dir: %d entries, %v", n, list.Note)
	}
	found := b.OK("glob", args{"pattern": "*"})
	if n := strings.Count(found.Text, "\n"); n != 78 || found.Note != "the newest 78 of 150; narrow the pattern to see others" {
		t.Errorf("glob: %d files, %v", n, found.Note)
	}
}

func TestGlob(t *testing.T) {
	b := newBench(t)
	files := []string{"main.go", "cmd/x/x.go", "cmd/x/x_test.go", "build/out.go", "sub/keep.log", "sub/debug.log", ".git/x.go", ".ci/y.yml", "we{ird}.go"}
	for i, f := range files {
		b.put(f, "")
		at := time.Unix(1_700_000_000+int64(i), 0)
		must(t, os.Chtimes(b.path(f), at, at))
	}
	b.put(".gitignore", "/build/\n*.log\n")
	b.put("sub/.gitignore", "!keep.log\n")
	b.link("main.go", "link.go")
	outside := t.TempDir()
	must(t, os.WriteFile(outside+"/o.go", nil, 0o600))
	b.link(outside, "outside")
	tests := []struct {
		pattern, path string
		want          string
	}{
		{"*.go", "", "link.go we{ird}.go cmd/x/x_test.go cmd/x/x.go main.go"},
		{"**/*.go", "", "link.go we{ird}.go cmd/x/x_test.go cmd/x/x.go main.go"},
		{"./cmd/**", "", "cmd/x/x_test.go cmd/x/x.go"},
		{"x/*_test.go", "cmd", "cmd/x/x_test.go"},
		{"*.{yml,log}", "", ".ci/y.yml sub/keep.log"},
		{"*.log", "sub", "sub/keep.log"}, // rules of the parent folder apply
		{"*", "build", "build/out.go"},   // an ignored folder that is named is searched
		{"cmd/*.go", "", ""},
	}
	must(t, os.Chtimes(b.path(".ci/y.yml"), time.Unix(1_800_000_000, 0), time.Unix(1_800_000_000, 0)))
	must(t, os.Mkdir(b.path("empty"), 0o755))
	for _, tt := range tests {
		got := b.OK("glob", args{"pattern": tt.pattern, "path": tt.path})
		if list := texts.OneLine(got.Text); list != tt.want || got.Outcome != texts.Plural(len(strings.Fields(tt.want)), "file") {
			t.Errorf("glob(%q, %q) = %v, want %s", tt.pattern, tt.path, got, tt.want)
		}
	}
	b.Fails("glob", args{"pattern": "[a"}, `invalid arguments: pattern: "[a" is not a valid glob pattern`)
	b.Fails("glob", args{"pattern": "/etc/*"}, "must be relative; give the folder as path")
	b.Fails("glob", args{"pattern": strings.Repeat("{a,a}", 5)}, "more than 4 groups")
}

func TestGlobIsBounded(t *testing.T) {
	b := newBench(t)
	for i := range 300 {
		b.put(fmt.Sprintf("%03d", i), "")
	}
	got := b.OK("glob", args{"pattern": "*"})
	if n := strings.Count(got.Text, "\n"); n != globLimit || got.Outcome != "300 files" || got.Note != "the newest 200 of 300; narrow the pattern to see others" {
		t.Errorf("%d files, %v, %v", n, got.Outcome, got.Note)
	}
}

func TestGrep(t *testing.T) {
	b := newBench(t)
	b.put("a.go", "package a\n\nfunc One() {}\nfunc two() {}\r\n", "sub/b.txt", "one\nfunc\nfunc One\nx", "bin", "func One\x00",
		".env", "KEY=func One\n", "ignored/c.go", "func One", ".gitignore", "ignored\n", ".git/x", "func One",
		"latin", "func One caf\xe9\n")
	b.link("a.go", "link.go")
	const note = "left out: 1 ignored by git (ignored/), 1 linked (link.go), 1 with possible secrets (.env), 1 binary; give one as path to search it"
	tests := []struct {
		name  string
		a     args
		want  string
		count int
		note  string
	}{
		{"literal", args{"pattern": "func One"}, "a.go:3:func One() {}\nlatin:1:func One café\nsub/b.txt:3:func One\n", 3, note},
		{"no prefix", args{"pattern": `\b[a-z]+ One`}, "a.go:3:func One() {}\nlatin:1:func One café\nsub/b.txt:3:func One\n", 3, note},
		{"anchors", args{"pattern": `^x$`}, "sub/b.txt:4:x\n", 1, note},
		{"end before CR", args{"pattern": `\{\}$`, "glob": "*.go"}, "a.go:3:func One() {}\na.go:4:func two() {}\n", 2, "left out: 1 ignored by git (ignored/), 1 linked (link.go); give one as path to search it"},
		{"ignore case", args{"pattern": "ONE", "ignore_case": true, "path": "sub"}, "sub/b.txt:1:one\nsub/b.txt:3:func One\n", 2, ""},
		{"glob with a folder", args{"pattern": "one", "glob": "sub/*.txt"}, "sub/b.txt:1:one\n", 1, ""},
		{"a file", args{"pattern": "KEY", "path": ".env"}, ".env:1:KEY=func One\n", 1, ""},
		{"a file that git ignores", args{"pattern": "One", "path": "ignored"}, "ignored/c.go:1:func One\n", 1, ""},
		{"context", args{"pattern": "two|package", "path": "a.go", "context": 1}, "a.go:1:package a\na.go-2-\na.go-3-func One() {}\na.go:4:func two() {}\n", 2, ""},
		{"groups", args{"pattern": "^one$|^x$", "path": "sub", "context": 0}, "sub/b.txt:1:one\nsub/b.txt:4:x\n", 2, ""},
		{"context with a gap", args{"pattern": "package|two", "path": "a.go", "context": 0}, "a.go:1:package a\na.go:4:func two() {}\n", 2, ""},
		{"none", args{"pattern": "nowhere"}, "", 0, "no match in 5 files; " + note},
		{"a space", args{"pattern": " ", "path": "a.go"}, "a.go:1:package a\na.go:3:func One() {}\na.go:4:func two() {}\n", 3, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := b.OK("grep", tt.a)
			if onTarget != nil && !strings.Contains(got.Note, "binary") { // a target does not send a file without the text, whatever it contains
				tt.note = strings.Replace(tt.note, ", 1 binary", "", 1)
			}
			if got.Text != tt.want || got.Outcome != texts.Plural(tt.count, "match") || got.Note != tt.note {
				t.Errorf("grep = %q %v %q\nwant   %q %d %q", got.Text, got.Outcome, got.Note, tt.want, tt.count, tt.note)
			}
		})
	}
	b.Fails("grep", args{"pattern": "a(b"}, "invalid arguments: pattern: ", "missing closing )", "RE2")
	b.Fails("grep", args{"pattern": ""}, "pattern: must have 1 to 1000 bytes")
	b.Fails("grep", args{"pattern": "a", "glob": "[a"}, "invalid arguments: glob: ")
	b.Fails("grep", args{"pattern": "a", "context": 6}, "context: expected integer from 0 to 5, got 6")
}

func TestGrepContextGroups(t *testing.T) {
	b := newBench(t)
	b.put("f", numbered(30), "g", numbered(3))
	got := b.OK("grep", args{"pattern": "line (1|8|20)$", "context": 2})
	const want = "f:1:line 1\nf-2-line 2\nf-3-line 3\n--\nf-6-line 6\nf-7-line 7\nf:8:line 8\nf-9-line 9\nf-10-line 10\n--\n" +
		"f-18-line 18\nf-19-line 19\nf:20:line 20\nf-21-line 21\nf-22-line 22\n--\ng:1:line 1\ng-2-line 2\ng-3-line 3\n"
	if got.Text != want {
		t.Errorf("matches = %q\nwant %q", got.Text, want)
	}
}

func TestGrepIsBounded(t *testing.T) {
	b := newBench(t)
	for i := range 30 {
		b.put(fmt.Sprintf("%02d", i), strings.Repeat("hit\n", 7))
	}
	first := b.OK("grep", args{"pattern": "hit"})
	matches := first.Text
	if strings.Count(matches, "\n") != grepLimit || first.Outcome != "100 matches" || !strings.HasSuffix(matches, "14:2:hit\n") {
		t.Errorf("%v matches, the last %q", first.Outcome, matches[len(matches)-20:])
	}
	if first.Note != "there are more matches than these 100; narrow pattern, path or glob" {
		t.Errorf("note = %v", first.Note)
	}
	for range 20 { // always the first matches, whichever worker finishes first
		if again := b.OK("grep", args{"pattern": "hit"}); again.Text != matches {
			t.Fatalf("another answer: %q", again.Text)
		}
	}
	b.put("exact/f", strings.Repeat("once\n", grepLimit))
	if got := b.OK("grep", args{"pattern": "once"}); got.Outcome != "100 matches" || got.Note != "" {
		t.Errorf("exactly the limit: %v %v", got.Outcome, got.Note)
	}
	long := strings.Repeat("ä", 500) + "needle" + strings.Repeat("ö", 500)
	b.put("long/min.js", strings.Repeat(long+"\n", 90))
	got := b.OK("grep", args{"pattern": "needle", "path": "long"})
	text := got.Text
	line, _, _ := strings.Cut(text, "\n")
	if len(text) > tools.OutputBytes+1000 || len(line) > hitBytes+50 || !strings.Contains(line, "äneedleö") || !strings.HasPrefix(line, "long/min.js:1:…ä") || !strings.HasSuffix(line, "ö…") {
		t.Errorf("%d bytes, first line %q", len(text), line)
	}
}

func tree(b *testing.B) *bench {
	w := newBench(b)
	for i := range 5000 {
		w.put(fmt.Sprintf("d%02d/e%d/f%04d.go", i%50, i%7, i), fmt.Sprintf("package f%d\n%s\nfunc Target%d() {}\n", i, strings.Repeat("\tx := compute(a, b) // and so on\n", 60), i))
	}
	w.put(".gitignore", "*.log\n/build/\nnode_modules\n*.tmp\n!keep.tmp\n")
	return w
}

func BenchmarkGrepTree(b *testing.B) {
	w := tree(b)
	for name, pattern := range map[string]string{"literal": "func Target4999", "prefix": `func Target4\d99\b`, "none": `\b[a-z]+4999\b`, "many": "package"} {
		call, err := w.Plan("grep", args{"pattern": pattern})
		if err != "" {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if res := w.Run(call); res.IsError {
					b.Fatal(res.Content)
				}
			}
		})
	}
}

func BenchmarkGlobTree(b *testing.B) {
	w := tree(b)
	call, _ := w.Plan("glob", args{"pattern": "**/*99.go"})
	b.ReportAllocs()
	for b.Loop() {
		w.Run(call)
	}
}

// BenchmarkGlobLarge searches 200,000 files, with all or few of them matching.
func BenchmarkGlobLarge(b *testing.B) {
	w := newBench(b)
	for i := range 2000 {
		dir := w.path(fmt.Sprintf("d%02d/e%02d", i/50, i%50))
		must(b, os.MkdirAll(dir, 0o755))
		for j := range 100 {
			must(b, os.WriteFile(fmt.Sprintf("%s/f%02d.go", dir, j), nil, 0o600))
		}
	}
	for _, pattern := range []string{"f77.go", "**/*.go", "d01/**/f*.go"} {
		b.Run(pattern, func(b *testing.B) {
			call, err := w.Plan("glob", args{"pattern": pattern})
			if err != "" {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if res := w.Run(call); res.IsError {
					b.Fatal(res.Content)
				}
			}
		})
	}
}

func BenchmarkReadHugeFile(b *testing.B) {
	w := newBench(b)
	w.sparse("huge", numbered(200_000))
	for _, offset := range []int{1, 100_000} {
		call, err := w.Plan("read_file", args{"path": "huge", "offset": offset, "limit": 100})
		if err != "" {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint("from line ", offset), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if res := w.Run(call); res.IsError {
					b.Fatal(res.Content)
				}
			}
		})
	}
}
