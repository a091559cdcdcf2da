package ui

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/loop"
	"buddy/app/screen"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/views/draw"
	"buddy/views/transcript"
)

// watchRoom limits the events of a replay that wait for the next draw.
const watchRoom = 256

// Recording calls show for the events of a stored session, in order, until show returns false. The error explains why
// the rest can't be read.
type Recording func(show func(event.Envelope) bool) error

// Replay shows a stored session at speed times its original speed until the user leaves it or ctx ends. If turn is not
// 0, the events before that turn are shown at once. home is the user's home folder, "" if unknown.
func Replay(ctx context.Context, s *screen.Screen, look Looks, keys *keymap.Map, events Recording, home string, speed float64, turn int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := newViewer(s, look, keys, home, newPlayer(speed, turn), cancel)
	v.loop.SetFocus(v.ui)
	if look.Auto {
		v.loop.Post(v.ui.Follow)
	}
	done := make(chan struct{})
	v.loop.Go(func() {
		defer close(done)
		v.end(v.player.play(ctx, events, v.events))
	})
	err := v.loop.Run(ctx)
	cancel()
	<-done
	return err
}

// viewer is the full screen of a replayed session, without a runtime.
type viewer struct {
	ui      *UI
	loop    *loop.Loop[event.Envelope]
	player  *player
	events  chan event.Envelope
	ended   string // message after the last event
	message string // shown instead of the player's status until the next key
}

// errWatching answers everything that a replay can't do.
var errWatching = errors.New("this is a replay: you can only watch")

func newViewer(s *screen.Screen, look Looks, keys *keymap.Map, home string, p *player, stop func()) *viewer {
	v := &viewer{player: p, events: make(chan event.Envelope, watchRoom)}
	none := func() (string, error) { return "", errWatching }
	v.ui = New(Deps{
		Looks: look,
		Terminal: Terminal{
			Suspend: func() error { return errWatching },
			Repaint: s.Sync, AskBackground: s.AskBackground, Copy: func(text string) { s.SetClipboard([]byte(text)) },
			Edit:      func(string, string) (string, error) { return none() },
			Look:      func(string, io.Reader) error { return errWatching },
			Attention: Attention{Notify: func(screen.Call, string) {}},
		},
		Timing: Timing{
			Now: p.now,
			Tick: func(on bool) {
				_, paused := p.pace()
				v.loop.SetTicking(on && !paused)
			},
			Later: func(f func()) { v.loop.Post(f) },
			After: func(d time.Duration, f func()) { time.AfterFunc(d, func() { v.loop.Post(f) }) },
			Background: func(work func() func()) {
				v.loop.Go(func() { v.loop.PostLazily(work()) })
			},
		},
		Drafting: Drafting{
			Draft:     func() {},
			Record:    func(string) {},
			Files:     func(_ string, answer func([]string)) { answer(nil) },
			Arguments: func(_ string, answer func([]draw.CommandHelp)) { answer(nil) },
			Attach:    func(string) ([]model.Image, error) { return nil, errWatching },
		},
		Send: func(event.Command) {}, Keys: keys, Home: home,
		Run: func(_ slash.Now, words []string) (show.Answer, error) {
			if words[0] == "quit" {
				return show.Answer{Leave: &show.Leave{Quit: true}}, nil
			}
			return show.Answer{}, errWatching
		},
		Leave: func(n slash.Next) {
			if n.Detach { // nothing would keep running
				v.message = errWatching.Error()
				return
			}
			v.loop.Quit()
		}, KeepShape: func(Shape) {},
		Saved: SavedSessions{Running: func() map[string]string { return nil }},
	})
	v.ui.overlays.palette = func() { pickCommand(&v.ui.overlays, v.run, v.ui.runAction) }
	v.ui.v.conversation.OnClick = nil // there is no prompt to focus
	v.ui.arranged.setFocus(layout.Conversation)
	v.loop = loop.New(loop.Config[event.Envelope]{
		Screen: s, Root: v.ui, Events: v.events, Apply: v.ui.apply, Key: v.key, Stop: stop,
		On: screen.Handlers{Paste: func(screen.Paste) {}, Background: v.ui.colours.background},
	})
	v.status()
	return v
}

// end shows that the replay has ended. whole means that all events were shown, err why they could not be read.
func (v *viewer) end(whole bool, err error) {
	text := "end of the session"
	switch {
	case err != nil:
		text = "the rest of the session can't be read: " + err.Error()
	case !whole:
		return // the user has left
	}
	v.loop.Post(func() {
		v.ended = text
		v.pace(func(p *player) { p.paused = true }) // stops the clocks
	})
}

// key passes a key to the player or to the screen.
func (v *viewer) key(ev *tcell.EventKey) *tcell.EventKey {
	scope, _ := v.ui.target()
	switch {
	case ev.Key() == tcell.KeyCtrlC:
		v.loop.Quit()
	case ev.Key() == tcell.KeyRune && scope != keymap.Finding && v.control(ev.Rune()):
	default:
		v.message = ""
		leaves := v.ui.following.on() && !transcript.Finds(v.ui.v.conversation) && scope == keymap.Conversation
		if p := v.ui.key(ev); leaves && p.Action == keymap.Back && v.ui.arranged.focus == layout.Prompt { // there was no search or selection to end
			follow(v.ui, 0)
		}
		v.ui.dock.held = false // the recorded answer follows
		if v.ui.arranged.focus == layout.Prompt {
			v.ui.v.prompt.SetText("") // nobody would receive it
			v.ui.arranged.setFocus(layout.Conversation)
		}
		v.status()
	}
	return nil
}

// run runs a command that only shows something. Other commands need a runtime.
func (v *viewer) run(c slash.Command) {
	switch c.Name {
	case "help", "find", "output", "copy", "theme", "quit":
		v.ui.runChosen(c)
	default:
		v.message = errWatching.Error()
	}
}

// control handles a key that controls the player, and returns false for other keys.
func (v *viewer) control(key rune) bool {
	switch key {
	case 'q':
		v.loop.Quit()
	case ' ':
		v.pace(func(p *player) { p.paused = !p.paused || v.ended != "" })
	case '+', '=':
		v.pace(func(p *player) { p.speed *= 2 })
	case '-':
		v.pace(func(p *player) { p.speed /= 2 })
	default:
		return false
	}
	return true
}

func (v *viewer) pace(f func(*player)) {
	v.player.change(f)
	v.status()
	v.ui.deps.Tick(v.ui.busy)
}

// status shows the state of the player and its keys.
func (v *viewer) status() {
	speed, paused := v.player.pace()
	text := "replay at " + strconv.FormatFloat(speed, 'g', -1, 64) + "× · space pauses"
	switch {
	case v.ended != "":
		text = v.ended
	case paused:
		text = "paused · space continues"
	}
	if v.ended == "" {
		text += " · + - speed"
	}
	v.ui.hint("", cmp.Or(v.message, text+" · q quits"))
}
