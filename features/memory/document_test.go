package memory

import (
	"strings"
	"testing"
)

const example = `# Memory of shop

Ann keeps this file.

## Rules
- Never restart nginx on web-* before ` + "`nginx -t`" + ` passed. <!-- r-4k2d 2026-11-20 from:c-9x1a,c-b07e support:3 -->
- Use ` + "`make test-fast`" + ` while working. <!-- r-81qp 2026-11-18 by:ann paths:src/** -->

## Ideas
- not a rule

## Facts
- Tests of checkout need a database. <!-- f-7k2m 2026-11-20 tool:run_shell session:7f3a seen:4 checked:2026-11-21 -->

## Corrections
- Not ` + "`npm install` but `pnpm install`" + `. <!-- c-9x1a 2026-11-17 denied:run_shell "npm install left-pad" -->
`

func TestEntriesAreLinesBelowHeadings(t *testing.T) {
	doc, problems := parse([]byte(example))
	all := doc.entries()
	if len(problems) != 0 || len(all) != 4 || string(doc.bytes()) != example {
		t.Fatalf("%d entries, problems %v, bytes\n%s", len(all), problems, doc.bytes())
	}
	rule, limited, fact, fix := all[0], all[1], all[2], all[3]
	if rule.ID != "r-4k2d" || rule.Kind != Rule || rule.Note.Support() != 3 || strings.Join(rule.Note.Sources(), " ") != "c-9x1a c-b07e" || rule.Line != 6 {
		t.Errorf("%+v", rule)
	}
	if got := limited.Note.Paths(); len(got) != 1 || got[0] != "src/**" || limited.Note.Get("by") != "ann" {
		t.Errorf("%+v", limited)
	}
	if fact.Kind != Fact || fact.Note.Support() != 4 || fact.Note.confirmed().Format(day) != "2026-11-21" {
		t.Errorf("%+v", fact)
	}
	if fix.Kind != Correction || len(fix.Note) != 4 || fix.Note[3] != `"npm install left-pad"` {
		t.Errorf("%+v", fix)
	}
}

// All lines of a damaged file are kept, and what is ignored is reported.
func TestFilesThatPeopleAndGitLeave(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		want     []string // texts of the entries
		problems []string // texts of problems, by line
	}{
		"windows":           {"## Rules\r\n- Use tabs. <!-- r-aaaa 2026-01-01 -->\r\n- Use spaces.\r\n", []string{"Use tabs.", "Use spaces."}, nil},
		"byte order mark":   {"\ufeff## Rules\n- Use tabs.\n", []string{"Use tabs."}, nil},
		"no end":            {"## Rules\n- Use tabs.", []string{"Use tabs."}, nil},
		"other marks":       {"### rules ###\n* Use tabs.\n  + Use spaces.\n", []string{"Use tabs.", "Use spaces."}, nil},
		"code":              {"## Rules\n```\n- Use code.\n```\n- Use tabs.\n", []string{"Use tabs."}, nil},
		"commented out":     {"## Rules\n<!--\n- Use that.\n-->\n- Use tabs.\n", []string{"Use tabs."}, nil},
		"conflict":          {"## Rules\n<<<<<<< HEAD\n- Use tabs. <!-- r-aaaa 2026-01-01 -->\n=======\n- Use spaces. <!-- r-bbbb 2026-01-02 -->\n>>>>>>> other\n", []string{"Use tabs.", "Use spaces."}, []string{":2 has merge conflict markers"}},
		"conflict of three": {"## Rules\n<<<<<<< HEAD\n- Use tabs.\n||||||| base\n- Use both.\n=======\n- Use spaces.\n>>>>>>> other\n", []string{"Use tabs.", "Use spaces."}, []string{":2 has merge conflict markers"}},
		"an id twice":       {"## Rules\n- Use new tabs. <!-- r-aaaa 2026-03-01 -->\n- Use tabs. <!-- r-aaaa 2026-01-01 -->\n", []string{"Use new tabs."}, []string{":3 was skipped: a newer r-aaaa is in line 2"}},
		"an id thrice":      {"## Rules\n- A b. <!-- r-aaaa -->\n- C d. <!-- r-aaaa -->\n- E f. <!-- r-aaaa -->\n", []string{"E f."}, []string{":2 was skipped", ":3 was skipped"}},
		"too long":          {"## Rules\n- " + strings.Repeat("ä", MaxText) + "\n- " + strings.Repeat("ä", MaxText+1) + "\n", []string{strings.Repeat("ä", MaxText)}, []string{":3 was skipped: it has more than 200"}},
		"no text":           {"## Rules\n- a\xffb\n- a\x1bb\n- Use tabs.\n", []string{"Use tabs."}, []string{":2 was skipped", ":3 was skipped"}},
		"an open comment":   {"## Rules\n- Use tabs. <!-- r-aaaa\n- Use spaces.\n", nil, []string{":2 has a comment without an end"}},
		"empty":             {"", nil, nil},
		"only a comment":    {"## Rules\n- <!-- r-aaaa -->\n", nil, nil},
	} {
		doc, problems := parse([]byte(c.text))
		if string(doc.bytes()) != c.text {
			t.Errorf("%s: the bytes have changed:\n%q", name, doc.bytes())
		}
		var got []string
		for _, e := range doc.entries() {
			got = append(got, e.Text)
			if !isID(e.ID) {
				t.Errorf("%s: id %q", name, e.ID)
			}
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if len(problems) != len(c.problems) {
			t.Errorf("%s: problems %v, want %v", name, problems, c.problems)
			continue
		}
		for i, p := range problems {
			if !strings.Contains(p.String(), c.problems[i]) {
				t.Errorf("%s: %q, want %q", name, p, c.problems[i])
			}
		}
	}
}

// A change rewrites its own line and adds missing ids to others.
func TestWritingKeepsEverythingElse(t *testing.T) {
	p := newPlace(t)
	before := strings.ReplaceAll(example, "\n", "\r\n") + "<<<<<<< HEAD\r\n- Use x.\r\n=======\r\n- Use y.\r\n>>>>>>> b\r\nA last word"
	p.write(Team, before)
	s := p.store("s1")
	c := must[Change](t)(s.Edit(t.Context(), "r-81qp", "Use `make quick`."))
	after := p.text(Team)
	if want := "- Use `make quick`. <!-- r-81qp 2026-11-18 by:ann paths:src/** checked:2026-11-20 -->\r"; !strings.Contains(after, want) {
		t.Errorf("not in\n%s", after)
	}
	for i, l := range strings.Split(before, "\n") {
		now := strings.Split(after, "\n")[i]
		switch {
		case strings.Contains(l, "r-81qp"):
		case strings.HasPrefix(l, "- Use x"), strings.HasPrefix(l, "- Use y"):
			if !strings.HasPrefix(now, strings.TrimSpace(l)+" <!-- c-") || !strings.HasSuffix(now, " 2026-11-20 -->\r") {
				t.Errorf("%q became %q", l, now)
			}
		case now != l:
			t.Errorf("%q became %q", l, now)
		}
	}
	if !strings.Contains(c.Diff, "-- Use `make test-fast`") || !strings.Contains(c.Diff, "+- Use `make quick`.") {
		t.Errorf("the diff is\n%s", c.Diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example), "Use tabs.")
	f.Add([]byte("## Rules\r\n- a <!-- r-aaaa -->\r\n- a <!-- r-aaaa\r\n```"), "x")
	f.Add([]byte("<<<<<<< a\n## Facts\n- b\n=======\n- c\n>>>>>>> "), "-->")
	f.Add([]byte("\ufeff## Corrections\n-  <!-- -->\n- x <!-- \"a b"), "y\nz")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		doc, _ := parse(data)
		if string(doc.bytes()) != string(data) {
			t.Fatalf("%q became %q", data, doc.bytes())
		}
		seen := make(map[string]bool)
		for _, e := range doc.entries() {
			if e.Text == "" || seen[e.ID] {
				t.Fatalf("entry %+v", e)
			}
			seen[e.ID] = true
		}
		clean, err := cleanText(text)
		if err != nil {
			return
		}
		n := len(doc.entries())
		doc.complete("2026-11-20")
		doc.add(Entry{ID: "r-zzzzz", Kind: Rule, Text: clean, Note: Note{"r-zzzzz", "2026-11-20"}})
		for l := range strings.Lines(string(data)) {
			if _, ok := bulleted(strings.TrimRight(l, "\r\n")); !ok && !strings.Contains(string(doc.bytes()), strings.TrimRight(l, "\r\n")) {
				t.Fatalf("%q is lost in %q", l, doc.bytes())
			}
		}
		again, _ := parse(doc.bytes())
		if i := again.find("r-zzzzz"); i >= 0 && (again.lines[i].entry.Text != clean || len(again.entries()) < n) {
			t.Fatalf("%q: %+v", clean, again.lines[i].entry)
		}
	})
}
