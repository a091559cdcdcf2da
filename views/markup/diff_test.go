package markup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"buddy/themes"
)

func TestDiff(t *testing.T) {
	const counts = "+1 -1 lines, 5 → 5 bytes"
	for _, c := range []struct {
		name string
		view DiffView
		in   []string
		want []string
	}{
		{
			"one file",
			DiffView{},
			[]string{"--- s/tax.go", "+++ s/tax.go", "@@ -8,4 +8,4 @@", " z", " a", "-b", "+c", " d", "@@ -100 +100 @@ func Tax()", "-x", "+y"},
			[]string{"✎ edit s/tax.go   +2 −2", "  8   z", "  9   a", " 10 - b", " 10 + c", " 11   d", "  … func Tax()", "100 - x", "100 + y"},
		},
		{
			"far lines are left out, one is not",
			DiffView{},
			[]string{"@@ -1,17 +1,15 @@", " 1", " 2", " 3", "-4", "+5", " 5", " 6", " 7", " 8", " 9", "-a", " a", " b", " c", " d", " e", " f", "-g"},
			[]string{" 2   2", " 3   3", " 4 - 4", " 4 + 5", " 5   5", " 6   6", " 7   7", " 8   8", " 9   9", "10 - a", "10   a", "11   b", " …  ", "14   e", "15   f", "17 - g"},
		},
		{
			"only what changes",
			DiffView{Tight: 2},
			[]string{"@@ -1,6 +1,6 @@", " 1", "-2", "+3", " 3", " 4", "-5", "+6", " 7"},
			[]string{"2 - 2", "2 + 3", "…  ", "5 - 5", "5 + 6"},
		},
		{
			"at most so many lines",
			DiffView{Most: 3},
			[]string{"--- a", "+++ a", "@@ -1,2 +1,3 @@", " 1", "-2", "+3", "+4"},
			[]string{"✎ edit a   +2 −1", "1   1", "2 - 2"},
		},
		{
			"new",
			DiffView{},
			[]string{"--- /dev/null", "+++ a", "@@ -0,0 +1 @@", "+x", "\\ No newline at end of file"},
			[]string{"✎ new a   +1 −0", "1 + x", "  \\ No newline at end of file"},
		},
		{"deleted", DiffView{}, []string{"--- a/x", "+++ /dev/null", "@@ -1 +0,0 @@", "-x"}, []string{"✎ delete a/x   +0 −1", "1 - x"}},
		{
			"headers that are text",
			DiffView{},
			[]string{"--- a", "+++ a", "@@ -1,3 +1,3 @@", "--- b", "-@@ -1 +1 @@", "+++ b", "+diff --git a/x b/x", " @@ -1 +1 @@"},
			[]string{"✎ edit a   +2 −2", "1 - -- b", "2 - @@ -1 +1 @@", "1 + ++ b", "2 + diff --git a/x b/x", "3   @@ -1 +1 @@"},
		},
		{
			"more lines than the header says",
			DiffView{},
			[]string{"--- a", "+++ a", "@@ -1 +1 @@", "-b", "+c", "+extra", "note"},
			[]string{"✎ edit a   +2 −1", "1 - b", "1 + c", "…  ", "  + extra", "note"},
		},
		{
			"cut",
			DiffView{},
			[]string{"━ a  +9 -7 lines, 5 → 5 bytes", "--- a", "+++ a", "@@ -1,9 +1,9 @@", " b", "-c", "… cut here: 12 more bytes in 8 lines"},
			[]string{"✎ edit a   +9 −7   5 → 5 bytes", "1   b", "2 - c", "… cut here: 12 more bytes in 8 lines"},
		},
		{
			"a path is named once",
			DiffView{},
			[]string{"━ /s/a  renamed from b, new file, " + counts, "--- a", "+++ a", "@@ -1 +1 @@", "-b", "+c"},
			[]string{"✎ edit a   +1 −1   renamed from b, 5 → 5 bytes", "1 - b", "1 + c"},
		},
		{
			"on a target",
			DiffView{},
			[]string{"━ web:a  " + counts, "--- a", "+++ a", "@@ -1 +1 @@", "-b", "+c"},
			[]string{"✎ edit web:a   +1 −1   5 → 5 bytes", "1 - b", "1 + c"},
		},
		{
			"another file",
			DiffView{},
			[]string{"━ /s/a  " + counts, "--- b", "+++ b", "@@ -1 +1 @@", "-b", "+c"},
			[]string{"✎ /s/a   +1 −1   5 → 5 bytes", "✎ edit b   +1 −1", "1 - b", "1 + c"},
		},
		{"no change", DiffView{}, []string{"━ /s/a  no change: the file has this content already"}, []string{"✎ /s/a   no change: the file has this content already"}},
		{
			"several files",
			DiffView{},
			[]string{"edit a: " + counts, "delete b: 1 byte", "--- a", "+++ a", "@@ -1 +1 @@", "-b", "+c", "--- b", "+++ /dev/null", "@@ -1 +0,0 @@", "-b"},
			[]string{"edit a: " + counts, "delete b: 1 byte", "✎ edit a   +1 −1", "1 - b", "1 + c", "✎ delete b   +0 −1", "1 - b"},
		},
		{
			"git",
			DiffView{},
			[]string{
				"diff --git a/x y.go b/x y.go", "index 1..2 100644", "--- a/x y.go\t", "+++ b/x y.go\t", "@@ -1 +1 @@ f", "-a", "+b",
				"diff --git a/old.go b/new.go", "old mode 100644", "new mode 100755", "similarity index 90%", "rename from old.go", "rename to new.go",
				"diff --git a/n b/n", "new file mode 100644", "index 0..1", "--- /dev/null", "+++ b/n", "@@ -0,0 +1 @@", "+n",
				"diff --git a/p.png b/p.png", "index 0..1", "Binary files a/p.png and b/p.png differ",
				"diff --git \"a/\\344\" \"b/\\344\"", "deleted file mode 100644", "--- \"a/\\344\"", "+++ /dev/null", "@@ -1 +0,0 @@", "-x",
			},
			[]string{
				"✎ edit x y.go   +1 −1", "1 - a", "1 + b", "✎ rename old.go → new.go   mode 100644 → 100755", "✎ new n   +1 −0", "1 + n",
				"✎ edit p.png   not text", "✎ delete �   +0 −1", "1 - x",
			},
		},
		{"signs alone", DiffView{}, []string{"-a", "+b", " c", "-- d"}, []string{"- a", "+ b", "  c", "- - d"}},
		{"no diff", DiffView{}, []string{"@@ x", "", "a"}, []string{"@@ x", " ", "a"}},
		{"an empty line at the end", DiffView{}, []string{"@@ -1,2 +1,3 @@", "-a", "+a", "+", " "}, []string{"1 - a", "1 + a", "2 +  ", "3    "}},
		{"tabs show", DiffView{}, []string{"@@ -1 +1 @@", "-\ta\t·", "+\tb"}, []string{"1 - ····a·····", "1 + ····b"}},
		{
			"hostile text",
			DiffView{},
			[]string{"--- a\x1b[2J", "+++ a\x1b[2J", "@@ -1 +1 @@ \x1b[1m", "-a\u202eb\r", "+\x1b]0;x\a"},
			[]string{"✎ edit a␛[2J   +1 −1", "1 - a‹U+202E›b␍", "1 + ␛]0;x␇"},
		},
		{"long lines wrap", DiffView{}, []string{"@@ -1 +1 @@", "+" + strings.Repeat("x", 70)}, []string{"1 + " + strings.Repeat("x", 56), "    " + strings.Repeat("x", 14)}},
	} {
		d := NewDiff(strings.Join(c.in, "\n")+"\n", c.view)
		check(t, &d.Text)
		if got := rows(&d.Text, 60); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// A diff has the same rows alone, in a complete answer and in a growing one.
func TestDiffInAnswers(t *testing.T) {
	for _, src := range diffs {
		alone := NewDiff(src, DiffView{})
		want := rows(&alone.Text, 58)
		answer := "```diff\n" + src + "```\n"
		grown := NewMarkdown(60)
		for i := range len(answer) {
			grown.Grow([]byte(answer[:i+1]))
		}
		for name, text := range map[string]*Text{"at once": markdown(answer, 60), "grown": &grown.Text} {
			var got []string
			for _, row := range rows(text, 60) {
				got = append(got, strings.TrimPrefix(row, "  "))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

var diffs = []string{
	"--- tax.go\n+++ tax.go\n@@ -3,6 +3,7 @@\n \n func Tax(cents int) int {\n-\treturn cents * 19 / 100\n+\tif cents < 0 {\n+\t\treturn -Tax(-cents)\n+\t}\n+\treturn (cents*19 + 50) / 100\n }\n",
	"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@ x\n a\n-b\n+c\n d\n@@ -90,9 +90,9 @@ y\n a\n b\n c\n d\n-b\n+c\n d\n d\n d\n",
	"+a\n-b\n", "no diff\n\n+a\n\ttabs\n", "@@ -1 +1 @@\n-" + strings.Repeat("long ", 40) + "\n+\x1b[31mred\u202e\n",
}

// Lines are bands with a sign, and the changed words of paired lines are highlighted.
func TestDiffsSetOffWhatChanged(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"one word", "-return cents * 19\n+return cents * 20", "return cents * [19]\nreturn cents * [20]"},
		{"more text", "-f(a)\n+f(a, b)", "f(a)\nf(a[, b])"},
		{"two places", "-f(a, 1, b)\n+f(x, 1, y)", "f([a], 1, [b])\nf([x], 1, [y])"},
		{"two pairs", "-x = 1 // a\n-y = 1 // b\n+x = 2 // a\n+y = 3 // b", "x = [1] // a\ny = [1] // b\nx = [2] // a\ny = [3] // b"},
		{"the one that it became", "-return a * 19 / 100\n+if a < 0 {\n+return -f(a)\n+}\n+return (a*19 + 50) / 100 // rounded", "return a * 19 / 100\nif a < 0 {\nreturn -f(a)\n}\nreturn [(]a*19 [+ 50)] / 100 [// rounded]"},
		{"nothing in common", "-alpha beta\n+gamma delta", "alpha beta\ngamma delta"},
		{"the same", "-a\n+a", "a\na"},
		{"whole characters", "-preis 5 über\n+preis 5 äber", "preis 5 [über]\npreis 5 [äber]"},
		{"only added", "+a\n+b", "a\nb"},
		{"empty lines", "-\n+\n-\n+x", " \n \n \nx"},
		{"indented deeper", "-a b\n+\ta b", "a b\n····a b"},
		{"blanks within", "-a  b\n+a b", "a  b\na b"},
		{"blanks at the end", "-a b\n+a b  ", "a b\na b[  ]"},
		{"a word and blanks at the end", "-a b\n+a c \t", "a [b]\na [c ····]"},
	} {
		d := NewDiff(c.in+"\n", DiffView{})
		var b strings.Builder
		from := 0
		for _, run := range d.Text.Runs {
			part := string(d.Text.Bytes[from:run.End])
			if r, _ := run.Style.BG.Role(); r == themes.DiffAddWord || r == themes.DiffDeleteWord {
				part = "[" + part + "]"
			}
			b.WriteString(part)
			from = int(run.End)
		}
		if got := strings.ReplaceAll(b.String(), "][", ""); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	d := NewDiff("@@ -1,2 +1,2 @@\n-a\n+b\n c\n", DiffView{})
	for i, want := range []themes.Role{themes.DiffDeleteBand, themes.DiffAddBand, themes.Text} {
		if d.Text.Paras[i].Band != want {
			t.Errorf("line %d is a band in %s, want %s", i, d.Text.Paras[i].Band, want)
		}
	}
}

// The code of a diff is highlighted by the name of its file when it is shown; bands and tabs stay.
func TestDiffIsHighlighted(t *testing.T) {
	d := NewDiff("--- a.go\n+++ a.go\n@@ -1,3 +1,3 @@\n /* a\n-func\tb\n+c */ func\tb\n d\n", DiffView{})
	d.Highlighter = atOnce()
	d.Show(0, len(d.Text.Bytes))
	got := describe(&d.Text)
	for _, want := range []string{
		"\"/* a\"synComment\n", "\"func\"synKeyword on diffDeleteBand\n",
		"\"c */\" on diffAddWord\n", "\"func\"synKeyword on diffAddBand\n\"····\"border on diffAddBand\n\"b\" on diffAddBand\n", "\"\\nd\"\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if plain := d.Text.Plain(0, len(d.Text.Bytes)); !strings.HasSuffix(plain, "\n/* a\nfunc\tb\nc */ func\tb\nd") {
		t.Errorf("what is copied is %q", plain)
	}
}

// The cost of a diff beyond the wanted lines is that of parsing.
func TestHugeDiffIsLaidOutAsFarAsItShows(t *testing.T) {
	src := hugeDiff(20_000)
	few := NewDiff(src, DiffView{Most: 15})
	if few.More == 0 || len(few.Text.Bytes) > 2000 || few.Added != 20_000 || few.Deleted != 20_000 {
		t.Errorf("%d bytes, %d more, +%d −%d", len(few.Text.Bytes), few.More, few.Added, few.Deleted)
	}
}

func hugeDiff(lines int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- a.go\n+++ a.go\n@@ -1,%d +1,%d @@\n", lines, lines)
	for i := range lines {
		fmt.Fprintf(&b, "-\tif err := something(ctx, a, %d); err != nil {\n", i)
	}
	for i := range lines {
		fmt.Fprintf(&b, "+\tif err := something(ctx, b, %d); err != nil {\n", i)
	}
	return b.String()
}

func BenchmarkDiff(b *testing.B) {
	src := hugeDiff(1000)
	for name, most := range map[string]int{"2000 lines": 0, "15 of them": 15} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				NewDiff(src, DiffView{Most: most})
			}
		})
	}
}

// The text of any diff is safe and shows all changes, and a shorter version is a prefix of a longer one.
func FuzzDiff(f *testing.F) {
	for _, src := range diffs {
		f.Add(src, 3)
	}
	f.Add("━ a  b\n--- a\n+++ a\n@@ -1,9 +1,1 @@\n-a\n+b\n\\ c\n-d\n", 1)
	f.Add("diff --git a/a b/b\nrename from \"\n@@ -0,0 +1,99999999999999999999 @@\n+\n", 9)
	f.Fuzz(func(t *testing.T, src string, most int) {
		all := NewDiff(src, DiffView{})
		check(t, &all.Text)
		changed := 0
		for _, p := range all.Text.Paras {
			if p.Band != themes.Text {
				changed++
			}
		}
		if !strings.Contains(src, FileMark) && changed != all.Added+all.Deleted {
			t.Fatalf("%d lines are bands, %d are counted", changed, all.Added+all.Deleted)
		}
		most = max(1, most%50)
		some := NewDiff(src, DiffView{Most: most})
		check(t, &some.Text)
		lines, shown := rows(&all.Text, 1<<20), rows(&some.Text, 1<<20)
		if len(shown) > most || len(shown)+some.More != len(lines) || !slices.Equal(shown, lines[:len(shown)]) {
			t.Fatalf("%d of %d lines and %d more: %q of %q", len(shown), len(lines), some.More, shown, lines)
		}
		for _, b := range all.blocks {
			code := all.Text.codeOf(b.lang, b.lines)
			all.Text.tint(b, b.lines, []tint{{int32(len(code.text) / 2), themes.SynName}, {int32(len(code.text)), themes.Code}})
		}
		check(t, &all.Text)
	})
}

func FuzzChanged(f *testing.F) {
	f.Add("return a", "return b")
	f.Add("e\u0301x", "ex")
	f.Add("f(a, 1)", "f(b, c, 1)")
	f.Fuzz(func(t *testing.T, a, b string) {
		before, after := changedPieces(a, b)
		if len(before)+len(after) == 0 {
			return
		}
		rest := func(s string, pieces []piece) string {
			kept, from := "", 0
			for _, p := range pieces {
				if p.from < from || p.to <= p.from || p.to > len(s) {
					t.Fatalf("changed(%q, %q) = %v, %v", a, b, before, after)
				}
				kept, from = kept+s[from:p.from], p.to
			}
			return kept + s[from:]
		}
		if x, y := rest(a, before), rest(b, after); strings.Join(strings.Fields(x), "") != strings.Join(strings.Fields(y), "") {
			t.Errorf("changed(%q, %q) = %v, %v: the rest differs: %q, %q", a, b, before, after, x, y)
		}
	})
}

// TestIsDiff: only text that starts with a diff or a commit with one, and changes lines, is drawn as a diff.
func TestIsDiff(t *testing.T) {
	const body = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
	for name, c := range map[string]struct {
		src  string
		want bool
	}{
		"of git":           {"diff --git a/x b/x\nindex 1..2 100644\n" + body, true},
		"of diff -u":       {body, true},
		"a commit":         {"commit 4f2a\nAuthor: a\n\n    why\n\ndiff --git a/x b/x\n" + body, true},
		"after other text": {"ok\n" + body, false},
		"no hunk":          {"diff --git a/x b/x\nnew mode 100755\n", false},
		"with colours":     {"diff --git a/x b/x\n" + strings.ReplaceAll(body, "-a", "\x1b[31m-a\x1b[m"), false},
		"a list":           {"--- one\n- two\n", false},
		"nothing":          {"", false},
	} {
		if got := IsDiff(c.src); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
