package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNoPane means that a pane does not exist, or that buddy did not make it: buddy only reads, types into and closes
// its own panes. The message lists these.
var ErrNoPane = errors.New("no such pane")

// Pane describes a managed pane of the session.
type Pane struct {
	ID      string // tmux's, such as %3
	Title   string // one line; a program in the pane may have changed it
	Shared  bool   // it runs the commands that have no pane of their own
	Dead    bool   // its supervisor has ended
	Program string // the foreground program's name from tmux; "" if unknown

	role string
	mode bool // the pane is in copy mode, which intercepts the keys
}

const paneFields = "#{pane_id} #{@buddy_managed} #{@buddy_owner} #{@buddy_role} #{pane_dead} #{pane_in_mode} #{pane_current_command} #{pane_title}"

// parsePane parses a line in the format paneFields; ok is false for a pane that is not
// managed.
func parsePane(line string) (p Pane, ok bool) {
	f := strings.SplitN(line, " ", 8)
	if len(f) < 8 || f[1] != "1" || f[2] != owner || f[3] == "" { // the user's own pane has the session's marks, but no role
		return Pane{}, false
	}
	p = Pane{ID: f[0], role: f[3], Shared: f[3] == roleShared, Dead: f[4] == "1", Program: f[6], Title: f[7], mode: f[5] == "1"}
	return p, p.Shared || strings.HasPrefix(p.role, ownPrefix)
}

// list returns the managed panes that ctl sees.
func (s *server) list(ctx context.Context, ctl *control) ([]Pane, error) {
	lines, err := ctl.do(ctx, "list-panes -s -t "+quote(s.opt.target())+` -F "`+paneFields+`"`)
	if err != nil {
		return nil, err
	}
	var all []Pane
	for _, l := range lines {
		if p, ok := parsePane(l); ok {
			if s.opt.Exe != "" && p.Program == filepath.Base(s.opt.Exe) {
				p.Program = "" // the supervisor, which passes keys on
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// orphans returns the panes of single commands, or none if the session is not known yet.
func (s *server) orphans(ctx context.Context) []Pane {
	ctl := s.live()
	if ctl == nil {
		return nil
	}
	all, err := s.list(ctx, ctl)
	if err != nil {
		return nil // the next command reports what is wrong
	}
	return slices.DeleteFunc(all, func(p Pane) bool { return p.Shared })
}

// Panes returns the managed panes of the session, the shared one first; none before the first
// command.
func (s *Session) Panes(ctx context.Context) ([]Pane, error) {
	_, all, err := s.panes(ctx)
	if errors.Is(err, errNoPane) {
		err = nil
	}
	return all, err
}

func (s *Session) panes(ctx context.Context) (*control, []Pane, error) {
	if s.srv == nil {
		return nil, nil, fmt.Errorf("%w: commands run without panes here", ErrUnavailable)
	}
	ctl, err := s.srv.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	all, err := s.srv.list(ctx, ctl)
	slices.SortStableFunc(all, func(a, b Pane) int {
		switch {
		case a.Shared == b.Shared:
			return 0
		case a.Shared:
			return -1
		}
		return 1
	})
	return ctl, all, err
}

// find returns the pane with an id. "", shared, default, shared-pane and default-pane mean the
// shared one.
func (s *Session) find(ctx context.Context, id string) (*control, Pane, error) {
	ctl, all, err := s.panes(ctx)
	if err != nil {
		return nil, Pane{}, err
	}
	shared := slices.Contains([]string{"", paneTitle, "default", "shared-pane", "default-pane"}, id)
	var known []string
	for _, p := range all {
		if p.ID == id || shared && p.Shared {
			return ctl, p, nil
		}
		known = append(known, fmt.Sprintf("%s (%s)", p.ID, p.Title))
	}
	return nil, Pane{}, fmt.Errorf("%w: %q (have: %s)", ErrNoPane, id, strings.Join(known, ", "))
}

// View selects the contents of a capture.
type View struct {
	// Start and End are the first and the last line to capture: 0 is the top row of the screen, -1 the newest line of
	// the scrollback. "-" means the first line of all as Start, the last one as End; "" means the first or last row of
	// the screen.
	Start, End string
	Join       bool // joins wrapped lines
	Escapes    bool // keeps colours, as SGR sequences
	Octal      bool // writes control characters, including those of Escapes, as \ooo
	Spaces     bool // keeps spaces at the ends of lines
	// Other captures the hidden screen: the one behind a full-screen program. Without such a screen the error is
	// ErrNoOther.
	Other bool
}

// ErrNoOther means that a pane has only one screen.
var ErrNoOther = errors.New("no alternate screen")

// Capture returns the text of a pane, rows separated by newlines, without empty rows at the end.
func (s *Session) Capture(ctx context.Context, pane string, v View) (Pane, string, error) {
	ctl, p, err := s.find(ctx, pane)
	if err != nil {
		return p, "", err
	}
	cmd := "capture-pane -p -t " + p.ID
	for _, o := range []struct{ flag, at string }{{" -S ", v.Start}, {" -E ", v.End}} {
		if o.at == "" {
			continue
		}
		if _, err := strconv.Atoi(o.at); err != nil && o.at != "-" {
			return p, "", fmt.Errorf("line %q: not a number or \"-\"", o.at)
		}
		cmd += o.flag + o.at
	}
	for _, o := range []struct {
		flag string
		on   bool
	}{{" -J", v.Join}, {" -e", v.Escapes}, {" -C", v.Octal}, {" -N", v.Spaces}, {" -a", v.Other}} {
		if o.on {
			cmd += o.flag
		}
	}
	ctx, stop := context.WithTimeout(ctx, answerWait)
	defer stop()
	rows, err := ctl.wait(ctx, ctl.send(capture(cmd))[0])
	if err != nil {
		if v.Other && strings.Contains(err.Error(), ErrNoOther.Error()) {
			err = fmt.Errorf("pane %s: %w", p.ID, ErrNoOther)
		}
		return p, "", err
	}
	if v.Spaces {
		return p, strings.Join(rows, "\n"), nil
	}
	for i, r := range rows {
		rows[i] = strings.TrimRight(r, " ")
	}
	return p, strings.TrimRight(strings.Join(rows, "\n"), "\n"), nil
}

// HistoryMax limits the scrollback lines that History returns.
const HistoryMax = 2000

// History returns the newest scrollback lines of a pane, at most HistoryMax, then its screen
// without the blank rows at its end, with colours as in [Screen].
func (s *Session) History(ctx context.Context, pane string) ([]string, error) {
	_, text, err := s.Capture(ctx, pane, View{Start: strconv.Itoa(-HistoryMax), Escapes: true})
	if err != nil {
		return nil, err
	}
	return strings.Split(text, "\n"), nil
}

// Kill closes a pane and ends its programs. It refuses the shared pane.
func (s *Session) Kill(ctx context.Context, pane string) error {
	_, p, err := s.find(ctx, pane)
	if err != nil {
		return err
	}
	if p.Shared {
		return fmt.Errorf("pane %s is the shared one and cannot be closed", p.ID)
	}
	s.adopt(ctx)
	key := strings.TrimPrefix(p.role, ownPrefix)
	s.own.mu.Lock()
	own := s.own.panes[key]
	s.own.mu.Unlock()
	at, ok := own.managedPane()
	if !ok {
		return fmt.Errorf("%w: %q has just been closed", ErrNoPane, p.ID)
	}
	if err := at.kill(ctx, p.ID); err != nil {
		return err
	}
	s.unclaim(key)
	return nil
}

// managedPane returns the tmux pane of a command, or false without tmux.
func (o *commandPane) managedPane() (*managedPane, bool) {
	if o == nil {
		return nil, false
	}
	at, ok := o.runner.(*managedPane)
	return at, ok
}

// kill closes the pane and ends its programs.
func (s *managedPane) kill(ctx context.Context, id string) error {
	s.srv.making.Lock()
	defer s.srv.making.Unlock()
	if err := s.sup.prepare(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	s.id, s.closing = id, true
	s.mu.Unlock()
	return s.end(ctx)
}

// Fit resizes a pane to a view, in cells, so that the user can type into it; 0x0 restores the default size. While a
// terminal of the user is attached, Fit returns false and does nothing, because the panes then have the size of that
// terminal.
func (s *Session) Fit(ctx context.Context, pane string, w, h int) (bool, error) {
	back := w == 0 && h == 0
	if !back && (w < 2 || h < 2 || w > 1000 || h > 1000) {
		return false, fmt.Errorf("%dx%d is not a size for a pane (have: 2x2 to 1000x1000)", w, h)
	}
	ctl, p, err := s.find(ctx, pane)
	if err != nil {
		return false, err
	}
	if there, err := s.srv.attended(ctx, ctl); there || err != nil {
		return false, err
	}
	s.srv.mu.Lock()
	if s.srv.fitted == nil {
		s.srv.fitted = make(map[string]bool)
	}
	s.srv.fitted[p.ID] = true // we set this size, even the default one; the user's terminal did not
	s.srv.mu.Unlock()
	size := fmt.Sprintf("-x %d -y %d", w, h)
	if back {
		size = "-x " + paneWidth + " -y " + paneHeight
	}
	if _, err = ctl.do(ctx, "resize-window -t "+p.ID+" "+size); err != nil {
		return false, err
	}
	s.paint.invalidate() // the pane's text wraps at another column, even if nothing prints
	return true, nil
}

// attended reports whether a terminal of the user is attached to the session.
func (s *server) attended(ctx context.Context, ctl *control) (bool, error) {
	clients, err := ctl.do(ctx, "list-clients -t "+quote(s.opt.target())+` -F "#{client_control_mode}"`)
	return slices.Contains(clients, "0"), err
}

// joined handles a client that attached to a session: panes fitted to a view follow the user's terminal again.
func (s *server) joined() {
	s.mu.Lock()
	ctl, panes := s.ctl, s.fitted
	s.fitted = nil
	s.mu.Unlock()
	if ctl == nil {
		return
	}
	for id := range panes {
		ctl.ask("set-option -w -u -t " + id + " window-size")
	}
}

// sweepMax limits the foreign sessions examined in one sweep.
const sweepMax = 20

// sweep removes what other programs left on our server: dead panes of commands, and sessions of our programs to which
// no client is attached, if all their panes are dead or abandoned.
func (s *server) sweep(ctx context.Context, ctl *control) {
	const fields = `"#{@buddy_managed} #{@buddy_owner} #{session_attached} #{pane_dead} #{pane_id} #{@buddy_role} #{@buddy_session} #{session_name}"`
	lines, err := ctl.do(ctx, "list-panes -a -F "+fields)
	if err != nil {
		return // a remaining session is harmless
	}
	others, asked := make(map[string]bool), 0 // by session: whether all panes so far are abandoned
	for _, l := range lines {
		p, ok := parseFound(l)
		if !ok {
			continue
		}
		if p.session == s.opt.tmuxName() {
			if p.dead && strings.HasPrefix(p.role, ownPrefix) {
				_, _ = ctl.do(ctx, "kill-pane -t "+p.id)
			}
			continue
		}
		if all, seen := others[p.session]; seen && !all {
			continue
		}
		old := p.ours
		if old && !p.dead {
			asked++
			old = asked <= sweepMax && s.abandoned(ctx, cmp.Or(p.identity, p.session), p.role)
		}
		others[p.session] = old
	}
	for name, all := range others {
		if all {
			_, _ = s.sup.tmux(ctx, "kill-session", "-t", "="+name)
		}
	}
}

// foundPane is a pane in sweep's list.
type foundPane struct {
	id, role, session string
	identity          string // of the session; "" if it was created before that option existed
	ours              bool   // its session has our marks and no attached client
	dead              bool
}

// parseFound parses a line of sweep's list.
func parseFound(line string) (foundPane, bool) {
	f := strings.SplitN(line, " ", 8)
	if len(f) < 8 {
		return foundPane{}, false
	}
	return foundPane{id: f[4], role: f[5], identity: f[6], session: f[7], ours: f[0] == "1" && f[1] == owner && f[2] == "0", dead: f[3] == "1"}, true
}

// abandoned reports whether the supervisor in a pane of another buddy session is no longer needed.
func (s *server) abandoned(ctx context.Context, identity, role string) bool {
	o := s.opt
	o.Session, o.name = identity, nil
	other := &server{opt: o}
	at := newManagedPane(other, nil, roleShared, "")
	if role != roleShared {
		at = newManagedPane(other, at, role, "")
	}
	return at.sup.abandoned(ctx)
}
