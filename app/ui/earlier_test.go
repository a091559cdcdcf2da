package ui

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/app/slash"
	"buddy/app/state"
)

// storedUI is a screen whose session has a file with the same events.
type storedUI struct {
	*testUI
	file []event.Envelope
	gate chan struct{} // each read receives from it; nil for no wait
	fail error         // error of each read
	lost bool          // whether new events are missing in the file

	counting  sync.Mutex // guards the counts
	reads     int        // how often the file was read
	reading   int        // goroutines reading it now
	mostReads int        // their maximum
}

// openLong opens a screen with exchanges of five blocks each; the first one and one in the middle are about needles.
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
		Read: func(after uint64, f func(event.Envelope) bool) error {
			x.begin()
			defer x.end()
			if x.gate != nil {
				<-x.gate
			}
			for _, env := range x.file {
				if env.Seq > after && !f(env) {
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

// begin counts a goroutine that starts reading the file.
func (x *storedUI) begin() {
	x.counting.Lock()
	defer x.counting.Unlock()
	x.reads, x.reading = x.reads+1, x.reading+1
	x.mostReads = max(x.mostReads, x.reading)
	if x.reads > 10_000 {
		panic("the file is read without end")
	}
}

// end counts a goroutine that has read it.
func (x *storedUI) end() {
	x.counting.Lock()
	defer x.counting.Unlock()
	x.reading--
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

// record applies events that the file has, too.
func (x *storedUI) record(payloads ...event.Event) {
	for i, p := range payloads {
		if !x.lost {
			x.file = append(x.file, event.Envelope{Seq: x.seq + uint64(i) + 1, Time: time.Now().UnixMilli(), Session: "7f3a-0000", Task: 1, Payload: p})
		}
	}
	x.feed(payloads...)
	x.rest()
}

// letRead lets one read of the file finish, and draws the result.
func (x *storedUI) letRead() {
	x.gate <- struct{}{}
	x.rest()
}

// letAll lets all reads of the file finish, and draws the results.
func (x *storedUI) letAll() {
	close(x.gate)
	x.rest()
}

// wantFew fails if memory holds more blocks than those near the view.
func (x *storedUI) wantFew() {
	x.t.Helper()
	shown, _, _ := state.Shown(&x.u.state)
	if n := len(x.u.state.Blocks); n > 900 || len(shown) > n+900 {
		x.t.Errorf("%d blocks are in memory at the end, %d near the view", n, len(shown))
	}
}

const manyBlocks = 3000

// A long session keeps only its end in memory and looks the same.
func TestLongSessionIsTrimmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		if n := len(x.u.state.Blocks); n > 800 || n < 500 {
			t.Errorf("%d of %d blocks are kept, want 500 to 800", n, manyBlocks)
		}
		x.Want("prompt 600.", "answer 600.", "answer 599.")
		if n := len(x.u.state.Back.Borders); n != manyBlocks/5 {
			t.Errorf("%d prompts to go back to, want %d", n, manyBlocks/5)
		}
	})
}

// Paging up passes every prompt once, in order, to the first, and paging down passes them back to the last. The view
// does not move when a part has been read. Memory holds only what is near the view.
func TestPagingThroughALongSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.gate = make(chan struct{})
		const all = manyBlocks / 5
		last, reads := all+1, 0
		page := func(key string, by int) {
			lines := strings.Split(x.Screen(), "\n")
			if by < 0 {
				lines = reversed(lines)
			}
			for _, line := range lines {
				var n int
				if i := strings.Index(line, "▌ prompt "); i >= 0 {
					if _, err := fmt.Sscanf(line[i:], "▌ prompt %d.", &n); err != nil {
						t.Fatal(err)
					}
					if (n-last)*by > 1 {
						t.Fatalf("prompt %d follows prompt %d:\n%s", n, last, x.Screen())
					}
					if (n-last)*by > 0 {
						last = n
					}
				}
			}
			x.Press(key)
			x.rest()
			for x.u.earlier.reads {
				was := x.Screen()
				x.letRead()
				reads++
				if now := x.Screen(); strings.ReplaceAll(now, "↑ loading …", "") != strings.ReplaceAll(was, "↑ loading …", "") && !strings.Contains(was, "↑ loading …") {
					t.Fatalf("the view moved when a part came:\n%s\n%s", was, now)
				}
			}
			x.wantFew()
		}
		for i := 0; i < 400 && last > 1; i++ {
			page("PgUp", -1)
		}
		if last != 1 || reads < 10 {
			t.Fatalf("paged up to prompt %d, read %d times", last, reads)
		}
		for i := 0; i < 400 && last < all; i++ {
			page("PgDn", 1)
		}
		if last != all {
			t.Fatalf("paged down to prompt %d", last)
		}
		x.letAll()
		x.Press("Tab", "Home")
		x.rest()
		x.exchange(all+1, "the next prompt.")
		x.Want("Where is the needle?")
		for n := all + 2; n < all+300; n++ {
			x.exchange(n, fmt.Sprintf("prompt %d.", n))
			x.rest()
			x.wantFew()
		}
		x.Want("Where is the needle?", "↓ more")
		x.Press("End")
		x.rest()
		x.Want(fmt.Sprintf("answer %d.", all+299))
		x.wantFew()
	})
}

func reversed(lines []string) []string {
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
}

// The key for the start leads to the first prompt, however long reading takes.
func TestBeginningOfALongSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.gate = make(chan struct{})
		x.Press("Tab", "Home")
		x.rest()
		x.Want("↑ loading the start of the session …")
		x.unwanted("prompt 1.")
		x.letAll()
		x.Want("prompt 1. Where is the needle?", "answer 2.")
		x.unwanted("reading")
		x.wantFew()
	})
}

// A search finds matches outside memory, one after the other in both directions, and shows that it is searching while
// parts are read. It counts all matches and keeps no part.
func TestFindInATrimmedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.gate = make(chan struct{})
		x.Paste("/find needle")
		x.Press("Enter")
		x.rest()
		x.Want("searching")
		x.letAll()
		x.Want("2 of 2", "prompt 300. Where is the needle?")
		for _, k := range []struct{ key, status, shown string }{
			{"N", "1 of 2", "prompt 1. Where"}, {"N", "2 of 2", "prompt 300. Where"}, {"n", "1 of 2", "prompt 1. Where"}, {"n", "2 of 2", "prompt 300. Where"}, {"N", "1 of 2", "prompt 1. Where"},
		} {
			x.Press(k.key)
			x.rest()
			x.Want(k.status, k.shown)
			x.wantFew()
		}
		for n := 601; n < 900; n++ {
			x.exchange(n, "more")
		}
		x.Want("1 of 2", "prompt 1. Where is the needle?")
		x.exchange(900, "a needle")
		x.Want("1 of 3")
		x.Press("N")
		x.rest()
		x.Want("3 of 3", "a needle")
		x.Press("Esc", "Esc")
		for _, k := range []struct{ text, status, shown string }{
			{"output 2 of prompt 7.", "1 of 1", "output 2 of prompt 7."},
			{"no such thing", "no match", "a needle"}, // a new search starts at the end
			{"output 1 of prompt", "900 of 900", "a needle"},
		} {
			x.Paste("/find " + k.text)
			x.Press("Enter")
			x.rest()
			x.Want(k.status, k.shown)
			x.wantFew()
			x.Press("Esc", "Esc")
		}
	})
}

// Stepping through matches in any direction skips none, whatever parts are read back in between.
func TestFindLeavesNoMatchOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		var with []int // exchanges
		for n := 1; n <= manyBlocks/5; n++ {
			if strings.HasPrefix(strconv.Itoa(n), "5") {
				with = append(with, n)
			}
		}
		x.Paste("/find output 2 of prompt 5")
		x.Press("Enter")
		x.rest()
		rnd := rand.New(rand.NewPCG(1, 2))
		at, key := len(with)-1, "N"
		for step := range 400 {
			x.Want(fmt.Sprintf("%d of %d", at+1, len(with)), fmt.Sprintf("output 2 of prompt %d.", with[at]))
			x.wantFew()
			switch rnd.IntN(8) {
			case 0:
				key = map[string]string{"n": "N", "N": "n"}[key]
			case 1:
				x.Press([]string{"PgUp", "PgDn"}[rnd.IntN(2)])
				x.rest()
			case 2:
				x.exchange(manyBlocks+step, "more")
			case 3: // from now on steps are taken while a part next to the match is read
				if x.gate == nil {
					x.gate = make(chan struct{})
				}
			case 4:
				if x.gate != nil {
					x.letAll()
					x.gate = nil
				}
			}
			at = (at + map[string]int{"n": 1, "N": len(with) - 1}[key]) % len(with)
			x.Press(key)
			x.rest()
			for range 60 {
				if strings.Contains(x.Screen(), fmt.Sprintf(" %d of %d", at+1, len(with))) {
					break
				}
				select {
				case x.gate <- struct{}{}:
				default:
				}
				x.rest()
			}
		}
	})
}

// A rewind to a prompt outside memory shows what came before the prompt.
func TestRewindInATrimmedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		to := func(n int) uint64 {
			for _, env := range x.file {
				if p, ok := env.Payload.(event.PromptSubmitted); ok && p.ID == n {
					return env.Seq
				}
			}
			return 0
		}
		x.record(event.HistoryRewound{ToSeq: to(200), Prompt: "prompt 200"})
		x.Want("rewound to before", "prompt 199.", "answer 199.")
		x.unwanted("prompt 200.", "answer 600.")
		at := x.file[len(x.file)-1].Seq
		x.Press("Tab", "PgUp", "PgUp", "PgUp")
		x.rest()
		x.record(event.HistoryRewound{ToSeq: at, Prompt: "prompt 200", Redo: true})
		x.Press("End")
		x.rest()
		x.Want("are back", "answer 600.")
		for n := 601; n < 900; n++ {
			x.exchange(n, "more")
		}
		x.rest()
		x.wantFew()
		x.Paste("/find answer 4")
		x.Press("Enter")
		x.rest()
		x.Want("111 of 111", "answer 499.")
	})
}

// While a search text is typed, the view stays in the blocks in memory, and each longer text searches from the same
// position.
func TestTypingASearchInATrimmedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.Press("Tab", "/")
		x.Type("needle")
		x.rest()
		x.Want("2 found")
		x.Press("Enter")
		x.rest()
		x.Want("2 of 2", "prompt 300. Where is the needle?")
		x.Press("/")
		x.Type("prompt 298.")
		x.rest()
		x.Want("prompt 298.")
		x.Press("Esc")
		x.rest()
		x.Want("prompt 300. Where is the needle?")
	})
}

// A selection and its rows stay.
func TestSelectionKeepsBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.Press("Tab", "v", "V")
		before := len(x.u.state.Blocks)
		for n := 601; n < 800; n++ {
			x.exchange(n, "more")
		}
		if shown, _, _ := state.Shown(&x.u.state); len(shown) != before+5*199 {
			t.Errorf("%d blocks, want %d and all that came", len(shown), before)
		}
		x.Press("y")
		x.rest()
		if !strings.Contains(x.copied, "answer 600.") {
			t.Errorf("copied %q", x.copied)
		}
	})
}

// Commands that need the whole conversation get it.
func TestCommandsReadATrimmedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		command := func(line string) {
			x.Paste(line)
			x.Press("Enter")
			x.rest()
		}
		command("/copy all")
		if !strings.HasPrefix(x.copied, "> prompt 1. Where is the needle?") || !strings.HasSuffix(x.copied, "answer 600.") {
			t.Errorf("copied %.60q", x.copied)
		}
		x.Want("Copied 2399 lines")
	})
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.gate = make(chan struct{})
		x.Paste("/output 1800")
		x.Press("Enter")
		x.rest()
		x.Want("loading earlier messages")
		x.letAll()
		x.Want("output 0 of prompt 1.")
		x.Press("q")
		x.Paste("/output 1801")
		x.Press("Enter")
		x.rest()
		x.Want("no such call")
	})
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		x.u.deps.Later(func() { goTo(x.u, slash.Spot{Seq: 2, Text: "needle"}) })
		x.rest()
		x.Want("prompt 1. Where is the needle?", "1 of 2")
	})
}

// Blocks that the file does not have are not dropped.
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

// An unreadable file is reported once, and blocks in memory stay usable.
func TestTrimmedSessionWithoutItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openLong(t, manyBlocks/5)
		kept := len(x.u.state.Blocks)
		x.file, x.fail = nil, errors.New("no session 7f3a-0000")
		x.Press("Tab", "Home")
		x.rest()
		x.Want("the start of the session can't be read: no session 7f3a-0000")
		x.Press("PgDn", "PgUp")
		x.rest()
		x.unwanted("can't be read")
		if len(x.u.state.Blocks) != kept {
			t.Errorf("%d blocks, want %d", len(x.u.state.Blocks), kept)
		}
	})
}
