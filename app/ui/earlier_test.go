package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/app/slash"
)

// storedUI is a screen whose session has a file, which is what it was told.
type storedUI struct {
	*testUI
	file []event.Envelope
	gate chan struct{} // reading waits for it; nil: it does not
	fail error         // of reading
	lost bool          // what is told goes to no file any more
}

// openLong opens a screen and tells it of so many exchanges of five blocks, of which the first and one in the
// middle are about needles.
func openLong(t *testing.T, exchanges int) *storedUI {
	t.Helper()
	x := &storedUI{testUI: open(t, 120, 32)}
	x.u.deps.Background = func(work func() func()) {
		go func() {
			apply := work()
			x.u.deps.Later(apply)
		}()
	}
	x.u.deps.File = SessionFile{
		Newest: func() (uint64, error) { return x.file[len(x.file)-1].Seq, nil },
		Read: func(f func(event.Envelope) bool) error {
			if x.gate != nil {
				<-x.gate
			}
			for _, env := range x.file {
				if !f(env) {
					break
				}
			}
			return x.fail
		},
	}
	x.record(event.SessionCreated{Cwd: "/home/ann/shop", Target: "local", Model: "demo"})
	for n := 1; n <= exchanges; n++ {
		text := fmt.Sprintf("prompt %d.", n)
		if n == 1 || n == exchanges/2 {
			text += " Where is the needle?"
		}
		x.exchange(n, text)
	}
	return x
}

func (x *storedUI) exchange(n int, text string) {
	code, calls := 0, []event.Event{event.PromptSubmitted{ID: n, Text: text, Kind: event.Opening}}
	for i := range 3 {
		id, out := fmt.Sprintf("call %d %d", n, i), fmt.Sprintf("output %d of prompt %d.\n", i, n)
		calls = append(calls,
			event.ToolRequested{CallID: id, Name: "run_shell", Action: ls},
			event.ToolResult{CallID: id, Name: "run_shell", ExitCode: &code, Result: out, Tail: out})
	}
	x.record(append(calls, answer(fmt.Sprintf("answer %d.", n)))...)
}

// record tells the screen what its file has, too.
func (x *storedUI) record(payloads ...event.Event) {
	for i, p := range payloads {
		if !x.lost {
			x.file = append(x.file, event.Envelope{Seq: x.seq + uint64(i) + 1, Time: time.Now().UnixMilli(), Session: "7f3a-0000", Task: 1, Payload: p})
		}
	}
	x.tell(payloads...)
	x.rest()
}

// letRead lets one reading of the file go on, and draws what came of it.
func (x *storedUI) letRead() {
	x.gate <- struct{}{}
	x.rest()
}

const manyBlocks = 1500

// On a long session the screen keeps the end, and shows the same as ever.
func TestLongSessionIsTrimmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		if n := len(x.u.state.Blocks); n > 800 || n < 500 {
			t.Errorf("%d of %d blocks are kept, want 500 to 800", n, manyBlocks)
		}
		x.Want("prompt 300.", "answer 300.", "answer 299.")
		if n := len(x.u.state.Back.Borders); n != 300 {
			t.Errorf("%d prompts to go back to, want 300", n)
		}
	})
}

// Paging up passes every prompt once, in order, up to the first; what shows while the beginning is read stays
// where it is when that comes.
func TestPagingToTheTopOfALongSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.gate = make(chan struct{})
		last, reads := 301, 0
		for range 200 {
			for _, line := range reversed(strings.Split(x.Screen(), "\n")) {
				var n int
				if i := strings.Index(line, "▌ prompt "); i >= 0 {
					if _, err := fmt.Sscanf(line[i:], "▌ prompt %d.", &n); err != nil {
						t.Fatal(err)
					}
					if n < last-1 {
						t.Fatalf("prompt %d follows above prompt %d:\n%s", n, last, x.Screen())
					}
					last = min(last, n)
				}
			}
			if last == 1 {
				break
			}
			x.Press("PgUp")
			x.rest()
			if x.u.earlier.reads {
				was := x.Screen()
				x.letRead()
				reads++
				if now := x.Screen(); now != was {
					t.Fatalf("the view moved when the beginning came:\n%s\n%s", was, now)
				}
			}
		}
		if last != 1 || reads != 1 || len(x.u.state.Blocks) != manyBlocks {
			t.Errorf("paged up to prompt %d, read %d times, %d blocks", last, reads, len(x.u.state.Blocks))
		}
		x.exchange(301, "prompt 301.")
		x.Want("Where is the needle?")
		x.Press("Tab", "End")
		for n := 302; n < 312; n++ {
			x.exchange(n, fmt.Sprintf("prompt %d.", n))
		}
		if x.Want("answer 311."); len(x.u.state.Blocks) > 800 {
			t.Errorf("%d blocks are kept at the end again", len(x.u.state.Blocks))
		}
	})
}

func reversed(lines []string) []string {
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
}

// The key for the beginning leads to the first prompt, however long that takes to read.
func TestBeginningOfALongSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.gate = make(chan struct{})
		x.Press("Tab", "Home")
		x.rest()
		x.Want("↑ reading the beginning …")
		x.unwanted("prompt 1.")
		x.letRead()
		x.Want("prompt 1. Where is the needle?", "answer 2.")
		x.unwanted("reading")
	})
}

// A search finds what is not in memory, and says that it searches while that is read.
func TestFindInATrimmedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.gate = make(chan struct{})
		x.Paste("/find needle")
		x.Press("Enter")
		x.rest()
		x.Want("searching")
		x.letRead()
		x.Want("2 of 2", "prompt 150. Where is the needle?")
		x.Press("N")
		x.rest()
		x.Want("1 of 2", "prompt 1. Where is the needle?")
		for n := 301; n < 340; n++ {
			x.exchange(n, "more")
		}
		x.Want("1 of 2", "prompt 1. Where is the needle?")
		if len(x.u.state.Blocks) < manyBlocks {
			t.Error("blocks went while somebody searches")
		}
		x.Press("Esc", "Esc")
		x.Paste("/find output 2 of prompt 7.")
		x.Press("Enter")
		x.rest()
		x.Want("1 of 1", "output 2 of prompt 7.")
	})
}

// What somebody selects stays, and so do the rows.
func TestSelectionKeepsBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.Press("Tab", "v", "V")
		before := len(x.u.state.Blocks)
		for n := 301; n < 500; n++ {
			x.exchange(n, "more")
		}
		if n := len(x.u.state.Blocks); n != before+5*199 {
			t.Errorf("%d blocks, want %d and all that came", n, before)
		}
		x.Press("y")
		x.rest()
		if !strings.Contains(x.copied, "answer 300.") {
			t.Errorf("copied %q", x.copied)
		}
	})
}

// Commands that need all of the conversation have it.
func TestCommandsReadATrimmedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		command := func(line string) {
			x.Paste(line)
			x.Press("Enter")
			x.rest()
		}
		command("/copy all")
		if !strings.HasPrefix(x.copied, "> prompt 1. Where is the needle?") || !strings.HasSuffix(x.copied, "answer 300.") {
			t.Errorf("copied %.60q", x.copied)
		}
		x.Want("copied 1199 lines")
	})
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.gate = make(chan struct{})
		x.Paste("/output 900")
		x.Press("Enter")
		x.rest()
		x.Want("reading the conversation from its beginning")
		x.letRead()
		x.Want("output 0 of prompt 1.")
		x.Press("q")
		x.Paste("/output 901")
		x.Press("Enter")
		x.rest()
		x.Want("there is no such call")
	})
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.u.deps.Later(func() { goTo(x.u, slash.Spot{Seq: 2, Text: "needle"}) })
		x.rest()
		x.Want("prompt 1. Where is the needle?", "1 of 2")
	})
}

// Nothing goes that the file does not have.
func TestUnstoredSessionIsNotTrimmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, 10)
		x.lost = true
		for n := 11; n <= manyBlocks/5; n++ {
			x.exchange(n, fmt.Sprintf("prompt %d.", n))
		}
		if n := len(x.u.state.Blocks); n != manyBlocks {
			t.Errorf("%d blocks, want all %d", n, manyBlocks)
		}
	})
}

// A file that can't be read is said once, and what is there stays in use.
func TestTrimmedSessionWithoutItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		kept := len(x.u.state.Blocks)
		x.file, x.fail = nil, errors.New("no session 7f3a-0000")
		x.Press("Tab", "Home")
		x.rest()
		x.Want("the beginning of the session can't be read: no session 7f3a-0000")
		x.Press("PgDn", "PgUp")
		x.rest()
		x.unwanted("can't be read")
		if len(x.u.state.Blocks) != kept {
			t.Errorf("%d blocks, want %d", len(x.u.state.Blocks), kept)
		}
	})
}
