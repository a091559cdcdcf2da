package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/spf13/cobra"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/loop"
	"buddy/app/screen"
	"buddy/config"
	"buddy/sessions"
	"buddy/themes"
)

func replayCommand(f *flags) *cobra.Command {
	speed := 1.0
	c := &cobra.Command{
		Use:   "replay ID",
		Short: "watch a session again, as it went",
		Long: "replay shows a session on the full screen as it went, with waits of at most two seconds.\n" +
			"Nothing runs and nothing is sent or changed; a session that is in use can be watched, too.\n" +
			"Space pauses, + and - change the speed, q ends it; the keys that scroll and change\n" +
			"panes work as always. An ID may be shortened to any beginning that is unique; last is\n" +
			"the session used last.",
		Example:           "  buddy replay last\n  buddy replay 7f3a --speed 4",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeSessions,
		RunE: func(_ *cobra.Command, args []string) error {
			if !(speed >= slowest && speed <= fastest) { // false for NaN, too
				return usage("--speed must be a number from %g to %g", slowest, fastest)
			}
			store, id, err := meant(args[0])
			if err != nil {
				return failed(err)
			}
			j, err := store.View(id)
			if err != nil {
				return failed(err)
			}
			defer func() { _ = j.Close() }()
			return watch(f, j, speed)
		},
	}
	c.Flags().Float64Var(&speed, "speed", speed, "how `many` times as fast as it went")
	return c
}

// watch shows a session until the person leaves it.
func watch(f *flags, j *sessions.Journal, speed float64) error {
	p := &program{}
	var err error
	if p.config, p.index, _, err = config.Load(config.Options{Config: f.config, Model: f.model, Trust: trustStore()}); err != nil {
		return exit{code: exitUsage, text: err.Error()}
	}
	c := coloursOf(f)
	name, theme, err := c.first(f, p)
	if err != nil {
		return err
	}
	keys, err := boundKeys(p.config.Keys, p.index)
	if err != nil {
		return err
	}
	s, err := screen.Open()
	if err != nil {
		return failed(err)
	}
	defer s.Fini()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	v := newViewer(s, looks{theme: theme, colours: c}, keys, newPlayer(speed), cancel)
	v.loop.SetFocus(v.ui)
	if name == themes.Auto {
		v.loop.Post(v.ui.follow)
	}
	done := make(chan struct{})
	v.loop.Go(func() {
		defer close(done)
		v.end(v.player.play(ctx, j, v.events))
	})
	err = v.loop.Run(ctx)
	cancel()
	<-done
	s.Fini()
	if err != nil {
		return failed(fmt.Errorf("terminal: %w", err))
	}
	return nil
}

// viewer is the full screen without a program behind it: a session passes by.
type viewer struct {
	ui     *ui
	loop   *loop.Loop[event.Envelope]
	player *player
	events chan event.Envelope
	ended  string // what is said when all was shown
}

// errWatching is what happens to all that a person can't do here.
var errWatching = errors.New("this is a replay: nothing can be done in it")

func newViewer(s *screen.Screen, look looks, keys *keymap.Map, p *player, stop func()) *viewer {
	v := &viewer{player: p, events: make(chan event.Envelope, eventRoom)}
	home, _ := os.UserHomeDir() // "" is unknown
	none := func() (string, error) { return "", errWatching }
	v.ui = newUI(deps{
		looks: look,
		terminal: terminal{
			repaint: s.Sync, askBackground: s.AskBackground, copy: func(text string) { s.SetClipboard([]byte(text)) },
			edit:      func(string, string) (string, error) { return none() },
			attention: attention{notify: func(screen.Call, string) {}},
		},
		send: func(event.Command) {}, keys: keys, now: p.now, home: home,
		leave: func(next) { v.loop.Quit() },
		tick: func(on bool) {
			_, paused := p.pace()
			v.loop.SetTicking(on && !paused)
		},
		later:  func(f func()) { v.loop.Post(f) },
		after:  func(d time.Duration, f func()) { time.AfterFunc(d, func() { v.loop.Post(f) }) },
		draft:  func() {},
		record: func(string) {},
		files:  func(_ string, answer func([]string)) { answer(nil) },
		catalog: catalog{
			sessions: none, find: func(string) (string, error) { return none() }, trust: none,
			targets: func() []targetOffer { return nil }, notice: func(string) {}, current: func() string { return "" },
		},
		background: func(work func() func()) {
			v.loop.Go(func() { v.loop.PostLazily(work()) })
		},
	})
	v.ui.setFocus(layout.Conversation)
	v.loop = loop.New(loop.Config[event.Envelope]{
		Screen: s, Root: v.ui, Events: v.events, Apply: v.ui.apply, Key: v.key, Stop: stop, Tick: func() {},
		On: screen.Handlers{Paste: func(screen.Paste) {}, Background: v.ui.background},
	})
	v.status()
	return v
}

// end says on the screen that there is no more.
func (v *viewer) end(whole bool, err error) {
	text := "the end of the session"
	switch {
	case err != nil:
		text = "the rest can't be read: " + err.Error()
	case !whole:
		return // the person has left
	}
	v.loop.Post(func() {
		v.ended = text
		v.pace(func(p *player) { p.paused = true }) // clocks stand still
	})
}

// key gives a key to the player, or to what scrolls.
func (v *viewer) key(ev *tcell.EventKey) *tcell.EventKey {
	scope, _ := v.ui.target()
	switch {
	case ev.Key() == tcell.KeyCtrlC:
		v.loop.Quit()
	case ev.Key() == tcell.KeyRune && scope != keymap.Finding && v.control(ev.Rune()):
	case v.ui.asking() && !v.ui.help: // the answer comes as it came then
	default:
		v.ui.key(ev)
		if v.ui.focus == layout.Prompt {
			v.ui.setFocus(layout.Conversation) // there is nobody to write to
		}
		v.status()
	}
	return nil
}

// control does what a key of the player means, and reports whether it is one.
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
	v.ui.deps.tick(v.ui.busy)
}

// status says what the player does and what its keys are.
func (v *viewer) status() {
	speed, paused := v.player.pace()
	text := "replay at " + strconv.FormatFloat(speed, 'g', -1, 64) + "× · space pauses"
	switch {
	case v.ended != "":
		text = v.ended
	case paused:
		text = "paused · space goes on"
	}
	if v.ended == "" {
		text += " · + - speed"
	}
	v.ui.hint("", text+" · q quits")
}
