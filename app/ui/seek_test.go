package ui

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/app/state"
)

// A search ends when the session file can't be read, and finds matches in memory.
func TestFindEndsWithoutTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.file, x.fail = nil, errors.New("no session 7f3a-0000")
		x.Paste("/find needle")
		x.Press("Enter")
		x.rest()
		x.Want("the start of the session can't be read: no session 7f3a-0000", "no match")
		x.Press("Esc", "Esc")
		x.Paste("/find answer 59")
		x.Press("Enter")
		x.rest()
		x.Want("10 of 10", "answer 599.")
		if x.reads > 3 {
			t.Errorf("read %d times", x.reads)
		}
	})
}

// When the file is lost while the start is shown, the start stays on the screen, and a search continues to the end.
func TestFindInTheEndWithoutTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.Press("Tab", "Home")
		x.rest()
		x.file, x.fail = nil, errors.New("no session 7f3a-0000")
		x.Paste("/find answer 600")
		x.Press("Enter")
		x.rest()
		x.Want("answer 600.")
		if x.reads > 10 {
			t.Errorf("read %d times", x.reads)
		}
	})
}

// However fast a search text is typed, one search at a time reads the file.
func TestTypingASearchReadsTheFileOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.gate = make(chan struct{})
		x.Press("Tab", "/")
		for _, c := range "needle" {
			x.Type(string(c))
			x.rest()
		}
		if x.mostReads > 1 {
			t.Errorf("%d goroutines read the file at the same time", x.mostReads)
		}
		x.letAll()
		x.Want("2 found")
	})
}

// Ending a search while its next match is read back keeps the position.
func TestEndOfASearchKeepsThePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.gate = make(chan struct{})
		x.Paste("/find prompt 7. ")
		x.Press("Enter")
		x.rest()
		x.letRead() // it was counted and is now shown
		x.Press("Esc", "PgUp", "PgUp", "PgUp")
		x.rest()
		was := x.Screen()
		x.letAll()
		if now := x.Screen(); now != was {
			t.Errorf("the view moved:\n%s\n%s", was, now)
		}
	})
}

// A prompt sent while the next match is looked for shows its answer, not the match.
func TestPromptEndsTheWayToAMatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.gate = make(chan struct{})
		x.Paste("/find needle")
		x.Press("Enter")
		x.rest()
		x.Press("Tab")
		x.Paste("run ls")
		x.Press("Enter")
		x.rest()
		x.wantSent(event.Submit{Text: "run ls"})
		x.exchange(601, "run ls")
		x.letAll()
		x.Want("answer 601.")
		x.unwanted("Where is the needle?")
	})
}

// The keys for the next and the previous prompt reach it across more calls than memory holds.
func TestPromptsFarApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, 2)
		for n := 3; n < 6; n++ {
			x.record(event.PromptSubmitted{ID: n, Text: fmt.Sprintf("work long on %d", n), Kind: event.Opening})
			code := 0
			for i := range 1500 {
				id := fmt.Sprintf("long %d %d", n, i)
				x.record(event.ToolRequested{CallID: id, Name: "run_shell", Action: ls},
					event.ToolResult{CallID: id, Name: "run_shell", ExitCode: &code, Result: "ok", Tail: "ok"})
			}
		}
		x.Press("Tab")
		for _, k := range []struct{ key, shown string }{
			{"[", "work long on 5"}, {"[", "work long on 4"}, {"[", "work long on 3"}, {"]", "work long on 4"}, {"]", "work long on 5"}, {"[", "work long on 4"},
		} {
			x.Press(k.key)
			x.rest()
			x.Want(k.shown)
			if shown, _, _ := state.Shown(&x.u.state); len(shown) > 1800 {
				t.Errorf("%d blocks are in memory", len(shown))
			}
		}
	})
}

// Wrong arguments are reported at once, without reading the session.
func TestWrongArgumentsReadNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.gate = make(chan struct{})
		for _, line := range []string{"/output x", "/copy everything"} {
			x.Paste(line)
			x.Press("Enter")
			x.rest()
			x.unwanted("loading earlier messages")
		}
		x.Want("unknown argument")
		if x.reads != 0 {
			t.Errorf("read %d times", x.reads)
		}
	})
}

// A rewind on another screen does not move a view of earlier parts; the user's own rewind leads to the end.
func TestRewindWhileSomebodyLooksBack(t *testing.T) {
	for name, own := range map[string]bool{"own": true, "of another screen": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := openLong(t, manyBlocks/5)
				x.Press("Tab", "Home", "PgDn")
				x.rest()
				was := x.Screen()
				back := x.u.state.Back.Borders[199]
				if own {
					back = x.u.state.Back.Borders[589]
					x.u.received.rewindTo = back
				}
				x.record(event.HistoryRewound{ToSeq: back.Seq, Prompt: back.Text})
				if own {
					x.Want("rewound to before", "answer 589.")
					return
				}
				if now := x.Screen(); now != was {
					t.Errorf("the view moved:\n%s\n%s", was, now)
				}
				for range 300 {
					x.Press("PgDn")
					x.rest()
				}
				x.Want("rewound to before", "answer 199.")
				x.unwanted("▌ prompt 200.", "↓")
			})
		})
	}
}

// Blocks added while a search text is typed are counted, even if its first letters had no match before.
func TestFindCountsWhatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.Press("Tab", "Home", "/")
		for i, c := range "zebra" {
			x.Type(string(c))
			x.rest()
			if i == 2 {
				x.Want("no match")
				x.exchange(601, "a zebra, and a zebu")
			}
		}
		x.rest()
		x.Want("1 found")
		x.exchange(602, "one more zebra")
		x.rest()
		x.Want("2 found")
		x.Press("Backspace", "Backspace")
		x.rest()
		x.Want("3 found")
	})
}

// Matches are counted again when a part of the conversation is removed or restored; the view of another part does not
// move.
func TestFindCountsAfterARewind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.Press("Tab", "Home")
		x.rest()
		x.Paste("/find answer 5")
		x.Press("Enter")
		x.rest()
		x.Want(" of 111")
		back := x.u.state.Back.Borders[199]
		x.record(event.HistoryRewound{ToSeq: back.Seq, Prompt: back.Text})
		x.rest()
		x.Want("11 of 11")
		at := x.file[len(x.file)-1].Seq
		x.record(event.HistoryRewound{ToSeq: at, Prompt: back.Text, Redo: true})
		x.rest()
		x.Want(" of 111", "▎answer 59.")
	})
}
