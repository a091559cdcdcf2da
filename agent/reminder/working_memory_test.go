package reminder

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// The summary is sent once after each compaction, and later only after many answers with many new files or prompts.
func TestWorkingMemoryIsToldAfterACompaction(t *testing.T) {
	work := func(compactions, answers, news int) Work {
		return Work{First: "build it", Last: "now test it", Compactions: compactions, Answers: answers, News: news}
	}
	for _, tt := range []struct {
		told string
		work Work
		want string // the new state, "" without a reminder
	}{
		{"", work(0, 100, 100), ""},
		{"", work(1, 9, 3), "1/9/3"},
		{"", Work{Compactions: 1}, ""},
		{"1/9/3", work(1, 10, 4), ""},
		{"1/9/3", work(1, 29, 10), ""},
		{"1/9/3", work(1, 28, 11), ""},
		{"1/9/3", work(1, 29, 11), "1/29/11"},
		{"1/9/3", work(2, 10, 3), "2/10/3"},
	} {
		said := workingMemory(Snapshot{Work: tt.work, Told: map[string]string{WorkingMemory: tt.told}})
		if said.State != tt.want || (said.Text != "") != (tt.want != "") {
			t.Errorf("%q, %+v: said %+v, want state %q", tt.told, tt.work, said, tt.want)
		}
	}
}

// The summary names goal, last prompt, steps and files: changed files first, the newest of them first.
func TestWorkingMemoryNamesTheWork(t *testing.T) {
	w := Work{First: "build\nit", Last: "test it", Files: []WorkFile{
		{Path: "/w/a.go", Target: "local"}, {Path: "/w/sub/b.go", Target: "local", Changed: true}, {Path: "/w/c.go", Target: "web", Changed: true},
	}}
	const want = "goal: build it\nlast prompt: test it\nopen steps: [ ] one; [>] two\nfiles changed below /w: c.go (on web), sub/b.go\nfiles read below /w: a.go"
	if got := w.Text([]string{"[ ] one", "[>] two"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := (Work{}).Text(nil); got != "" {
		t.Errorf("no work is %q", got)
	}
}

// The summary never exceeds 1 KB and is cut between characters.
func TestWorkingMemoryIsBounded(t *testing.T) {
	for _, char := range []string{"x", "ä", "字", "🙂"} {
		for n := range 40 {
			long := strings.Repeat(char, 20*n)
			w := Work{First: long, Last: long + "!"}
			for i := range n {
				w.Files = append(w.Files, WorkFile{Path: fmt.Sprintf("/%s/%d/%s", strings.Repeat(char, n), i, long), Target: "t", Changed: i%2 == 0})
			}
			if got := w.Text([]string{long, long}); len(got) > maxWork || !utf8.ValidString(got) {
				t.Errorf("%d times %s: %d bytes, valid %v", n, char, len(got), utf8.ValidString(got))
			}
		}
	}
}
