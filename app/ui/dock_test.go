package ui

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/views/dialog"
	"buddy/views/draw"
)

var streams = flag.Int("streams", 1_000, "how many streams of keys TestTypedStreamsDecideNothing types; -short types a tenth, make counterparts ten times as many")

// typedKey is one key of a stream, with its delay.
type typedKey struct {
	after time.Duration
	key   string // "paste" pastes text
	text  string // the text that must be in the prompt afterwards
}

// typedStream returns keys typed at 20 to 400 ms, starting with a letter or a paste. A letter comes late enough after
// Esc for a terminal to tell the two from Alt and the letter.
func typedStream(r *rand.Rand) []typedKey {
	all := make([]typedKey, 3+r.IntN(10))
	for i := range all {
		k := typedKey{after: time.Duration(20+r.IntN(380)) * time.Millisecond}
		switch n := r.IntN(20); {
		case n < 11 || i == 0 && n > 11:
			k.key = string("abcdefghijklmnopqrstuvwxyzyyynnneeesssddd?0123456789"[r.IntN(52)])
			if k.key == "?" && (i == 0 || strings.TrimSpace(all[i-1].text) == "") { // alone it opens the help
				k.key = "x"
			}
			k.text = k.key
		case n == 11:
			k.key, k.text = "paste", "paste"+fmt.Sprint(i)
		default:
			k.key = [...]string{"Space", "Enter", "Enter", "Tab", "Shift+Tab", "Esc", "Enter", "Space"}[n-12]
		}
		if i > 0 && all[i-1].key == "Esc" {
			k.after = max(k.after, 80*time.Millisecond)
		}
		all[i] = k
	}
	return all
}

// Typing that started before a dialog opened never approves, denies, answers or edits, and changes no mode while the
// dialog is open; neither does a sentence that starts at any later time. Every letter ends up in the prompt, in sent
// prompts, or in a reason that Esc moves to the prompt.
func TestTypedStreamsDecideNothing(t *testing.T) {
	const each = 100                                // streams per screen
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // goroutines on one thread cost half
	last := *streams
	if testing.Short() {
		last /= 10
	}
	for seed := 0; seed < last; seed += each {
		synctest.Test(t, func(t *testing.T) {
			size := [][2]int{{40, 12}, {40, 12}, {80, 24}}[seed/each%3]
			x := open(t, size[0], size[1])
			x.u.deps.Tick = func(bool) {} // no frames for clocks
			x.feed(running...)
			for i := seed; i < min(seed+each, last) && !t.Failed(); i++ {
				if i%2 == 0 {
					x.typeStream(uint64(i))
				} else {
					x.typeSentence(uint64(i))
				}
			}
		})
	}
}

// sentenceStream returns keys typed at 20 to 200 ms: at least two letters, then anything.
func sentenceStream(r *rand.Rand) []typedKey {
	all := typedStream(r)
	for i := range all {
		all[i].after = time.Duration(20+r.IntN(180)) * time.Millisecond
		if i < 2 {
			c := string("yyynnsssdddeeezplowYNS"[r.IntN(22)])
			all[i].key, all[i].text = c, c
		}
		if i > 0 && all[i-1].key == "Esc" {
			all[i].after = max(all[i].after, 80*time.Millisecond)
		}
	}
	return all
}

// typeSentence types one sentence, which starts at any time after an approval or a question opened; sometimes the
// dialog was focused by a key.
func (x *testUI) typeSentence(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 8))
	keys := sentenceStream(r)
	id := fmt.Sprint("s", seed)
	x.openDialog(id, r.IntN(4) > 0)
	if r.IntN(4) == 0 {
		x.Press("F8")
	}
	time.Sleep(time.Duration(r.IntN(2500)) * time.Millisecond)
	x.typeKeys(keys, len(keys), id, false, r)
	x.endStream(id, fmt.Sprintf("sentence %d: %v", seed, keys), keys)
}

// typeStream types one stream; an approval or a question opens in the middle of it.
func (x *testUI) typeStream(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	keys := typedStream(r)
	opens := 1 + r.IntN(len(keys)-1)
	id := fmt.Sprint("a", seed)
	x.typeKeys(keys, opens, id, r.IntN(2) == 0, r)
	x.endStream(id, fmt.Sprintf("stream %d, open at %d: %v", seed, opens, keys), keys)
}

// typeKeys types a stream. A dialog opens before one of its keys.
func (x *testUI) typeKeys(keys []typedKey, opens int, id string, approval bool, r *rand.Rand) {
	for i, k := range keys {
		gap := k.after
		if i == opens {
			before := time.Duration(r.IntN(int(gap)))
			time.Sleep(before)
			gap -= before
			x.openDialog(id, approval)
		}
		time.Sleep(gap)
		synctest.Wait()
		open, modes := x.u.dock.request != "", x.modes()
		if k.key == "paste" {
			x.Paste(k.text)
		} else {
			x.Press(k.key)
		}
		if open && x.modes() != modes {
			x.t.Errorf("%s: key %d of %v changed the mode while a dialog was open", id, i, keys)
		}
		if k.key == "Esc" && x.cancelled() {
			x.publish(event.ApprovalAnswered{ID: id, CallID: "c1", Decision: event.Deny, By: "cancel"}, event.QuestionAnswered{ID: id, By: "cancel"},
				event.TaskFinished{ID: 1, Outcome: event.Cancelled})
			x.publish(event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "list the files"})
		}
	}
	synctest.Wait()
}

// endStream checks the effects of a stream, and ends it.
func (x *testUI) endStream(id, name string, keys []typedKey) {
	want := ""
	for _, k := range keys {
		want += k.text
	}
	if x.u.dock.approval.Scope() == keymap.Reason { // a reason holds a letter and all the text after it
		x.Press("Esc")
		synctest.Wait()
	}
	x.checkStream(name, want, strings.HasPrefix(id, "s"))
	x.publish(event.ApprovalAnswered{ID: id, CallID: "c1", Decision: event.Deny, By: "cancel"}, event.QuestionAnswered{ID: id, By: "cancel"})
	x.u.deps.Later(func() {
		x.u.arranged.setFocus(layout.Prompt)
		x.u.v.prompt.SetText("")
	})
	time.Sleep(2 * time.Second)
	synctest.Wait()
}

func (x *testUI) openDialog(id string, approval bool) {
	if approval {
		a := asked
		a.ID = id
		x.publish(a)
		return
	}
	q := event.QuestionAsked{ID: id, CallID: "c1", Text: "Which port?", Choices: []string{"80", "8080"}}
	if strings.HasSuffix(id, "1") || strings.HasSuffix(id, "2") { // a plan is a question as well
		q = aPlan
		q.ID = id
	}
	x.publish(q)
}

// publish sends events without waiting for a frame.
func (x *testUI) publish(payloads ...event.Event) {
	for _, p := range payloads {
		x.seq++
		x.events <- event.Envelope{Seq: x.seq, Time: time.Now().UnixMilli(), Session: "7f3a-0000", Task: 1, Payload: p}
	}
	synctest.Wait()
}

// rest waits until the user no longer counts as typing and the screen is settled.
func (x *testUI) rest() {
	time.Sleep(dialog.Pause + 50*time.Millisecond)
	synctest.Wait()
}

// cancelled reports whether the last sent command cancels the task.
func (x *testUI) cancelled() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.sent) == 0 {
		return false
	}
	_, ok := x.sent[len(x.sent)-1].(event.Cancel)
	return ok
}

// modes counts the mode changes that were sent.
func (x *testUI) modes() (n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range x.sent {
		if _, ok := c.(event.CycleMode); ok {
			n++
		}
	}
	return n
}

// checkStream checks the effects of a stream. answers allows a text as the answer to a question.
func (x *testUI) checkStream(name, want string, answers bool) {
	x.t.Helper()
	x.mu.Lock()
	sent := x.sent
	x.sent = nil
	x.mu.Unlock()
	got := ""
	for _, c := range sent {
		switch c := c.(type) {
		case event.Submit:
			got += c.Text
		case event.Answer:
			if got += c.Text; !answers {
				x.t.Errorf("%s: sent %#v", name, c)
			}
		case event.Cancel, event.WatchPanes, event.CycleMode:
		default:
			x.t.Errorf("%s: sent %#v", name, c)
		}
	}
	got += x.u.v.prompt.Text()
	if s, _ := x.u.target(); s == keymap.Amend || s == keymap.Reason {
		x.t.Errorf("%s: the keys are those of %s", name, s)
	}
	if got = strings.Join(strings.Fields(got), ""); got != want {
		x.t.Errorf("%s: the prompts hold %q, want %q\n%s", name, got, want, x.Screen())
	}
}

// An escape sequence that arrives in pieces, as over a slow line, is neither Esc nor text.
func TestSplitEscapeSequenceIsNoEsc(t *testing.T) {
	for _, sequence := range []string{"\x1b[A", "\x1bOA", "\x1b[1;5D", "\x1b[<0;3;3M", "\x1b[200~pasted\x1b[201~", "\x1b[19~"} {
		for split := 1; split < len(sequence) && split < 7; split++ {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 80, 24)
				x.feed(running...)
				gap := 45 * time.Millisecond
				if split > 1 {
					gap = 200 * time.Millisecond
				}
				x.Terminal.Type(sequence[:split])
				time.Sleep(gap)
				x.Terminal.Type(sequence[split:])
				time.Sleep(200 * time.Millisecond)
				x.wantSent()
				x.inside(func() {
					if text := x.u.v.prompt.Text(); text != "" && text != "pasted" {
						t.Errorf("%q, split after %d bytes, types %q", sequence, split, text)
					}
				})
			})
		}
	}
}

// A letter without a meaning in a pane starts a prompt. After copying and after a click in the conversation the prompt
// has the keys.
func TestTypingFindsThePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.Press("Tab")
		x.Type("what?")
		x.Want("> what?")
		x.rest()
		x.Press("Tab", "Up", "y") // copies the block
		x.Type(" now")
		x.Want("> what? now")
		x.clickOn("I will look.", 2)
		x.Type(" yes")
		x.Want("> what? now yes")
	})
}

// A sent prompt and a new question scroll into view, wherever the conversation was.
func TestWhatWaitsIsInView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.feed(running...)
		x.feed(answer(strings.Repeat("a line\n\n", 60) + "the last line"))
		up := func() {
			t.Helper()
			x.rest()
			x.Press("Tab", "PgUp", "PgUp", "Esc")
			x.unwanted("the last line")
		}
		up()
		x.Type("go on\n")
		x.Want("the last line")
		up()
		x.feed(asked)
		x.Want("the last line")
	})
}

// A paste cancels a pending confirmation.
func TestPasteDisarmsQuitting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.Press("Ctrl+C")
		x.Want("Ctrl+C again")
		x.Paste("more")
		x.Press("Ctrl+C", "Ctrl+C")
		if !x.Running() {
			t.Error("it quit after a paste between two Ctrl+C")
		}
	})
}

// Each of several requests is answered separately, and F8 leads through them and back.
func TestSeveralRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(running...)
		second := asked
		second.ID, second.Action.Command = "a2", "rm second"
		x.feed(asked, second, event.QuestionAsked{ID: "q", Text: "Which port?", Choices: []string{"80"}})
		x.Want("Run this command?  1 of 3")
		x.Press("F8")
		x.Want("press F8 for the next one")
		x.Press("F8")
		x.Want("Run this command?  2 of 3", "rm second")
		x.Press("F8")
		x.Want("Which port?  3 of 3", "press F8 to go back to your prompt")
		x.Press("F8")
		x.Want("1 of 3", "Press F8 to answer")
		x.Press("F8", "F8")
		time.Sleep(draw.GracePeriod)
		x.Settle()
		x.decide("n")
		x.wantSent(event.AnswerApproval{ID: "a2", Decision: event.Deny})
		x.feed(event.ApprovalAnswered{ID: "a2", Decision: event.Deny, By: "user"})
		x.Want("Run this command?  1 of 2", "Press F8 to answer")
		x.Type("y") // too early for the dialog: it goes to the prompt
		x.wantSent()
		x.Want("> y")
	})
}

// A question accepts digits, arrows and Enter, and typed text as the user's own answer; a draft from before stays a
// prompt.
func TestQuestionTakesOwnWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(running...)
		ask := func(id string) {
			x.feed(event.QuestionAsked{ID: id, Text: "Which port?", Choices: []string{"80", "8080"}})
		}
		x.Type("a dra")
		ask("q")
		x.Type("ft\n")
		x.wantSent(event.Submit{Text: "a draft"})
		x.rest()
		x.Type("8443, as on the other host")
		x.Want("> 8443, as on the other host", " answer\n")
		x.Press("Enter")
		x.wantSent(event.Answer{ID: "q", Text: "8443, as on the other host"})
		x.feed(event.QuestionAnswered{ID: "q", By: "user"})
		ask("r")
		x.rest()
		x.Type("10 or so") // 1 is a choice, but continues as text
		x.Want("> 10 or so")
		x.Press("Enter")
		x.wantSent(event.Answer{ID: "r", Text: "10 or so"})
		x.feed(event.QuestionAnswered{ID: "r", By: "user"})
		ask("s")
		x.rest()
		x.decide("2")
		x.wantSent(event.Answer{ID: "s", Text: "8080"})
		x.feed(event.QuestionAnswered{ID: "s", By: "user"})
		ask("t")
		x.rest()
		x.Press("Enter") // chooses the marked one
		x.wantSent(event.Answer{ID: "t", Text: "80"})
		x.feed(event.QuestionAnswered{ID: "t", By: "user"})
		ask("u")
		x.rest()
		x.Press("Down", "Enter")
		x.wantSent(event.Answer{ID: "u", Text: "8080"})
	})
}

// The status line names the key that interrupts, also in vi mode.
func TestStatusSaysWhatInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(running...)
		x.Want("Esc interrupts")
		x.u.v.prompt.SetVi(true)
		x.Type("x")
		x.Want("Esc Esc interrupts")
		x.Press("Esc")
		x.unwanted("Esc Esc")
		x.Want("Esc interrupts")
	})
}
