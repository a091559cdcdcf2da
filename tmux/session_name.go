package tmux

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

// shortest is the minimum number of characters of a session's identity in its name in tmux.
const shortest = 4

// sessionName holds the name of a session in tmux. With [Options.Short], the first query of tmux determines the name:
// an existing session, which tmux's option @buddy_session identifies, keeps its name; a new session gets the shortest
// unused one.
type sessionName struct {
	identity string
	short    bool

	mu  sync.Mutex // guards the fields below
	now string
}

func newSessionName(o Options) *sessionName {
	n := &sessionName{identity: o.Session, short: o.Short, now: o.Session}
	if o.Short {
		n.now = shortName(o.Session, func(string) bool { return false })
	}
	n.prefer(o.Known)
	return n
}

// prefer sets an earlier name of the session, which counts until tmux reports another one. It ignores the name if it
// belongs to another session, from which this one was copied.
func (n *sessionName) prefer(known string) {
	if n.short && len(known) >= len(owner)+1+shortest && strings.HasPrefix(n.identity, known) {
		n.set(known)
	}
}

func (n *sessionName) get() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now
}

func (n *sessionName) set(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now = name
}

// shortName returns the shortest prefix of an identity that is not taken, or the whole identity if all are taken.
func shortName(identity string, taken func(string) bool) string {
	for end := len(owner) + 1 + shortest; end < len(identity); end++ {
		if name := identity[:end]; name[end-1] != '-' && !taken(name) {
			return name
		}
	}
	return identity
}

// tmuxName returns the session's name in tmux, as far as it is known.
func (o Options) tmuxName() string {
	if o.name == nil {
		return o.Session
	}
	return o.name.get()
}

// ours reports whether a session created by this program, with that name and identity, is the session of these options.
func (o Options) ours(name, identity string) bool {
	return identity == o.Session || identity == "" && name == o.Session // sessions from before the option existed
}

// listed is a session on a tmux server.
type listed struct {
	name, identity string // without the option the identity is ""
	managed        bool
}

const listedFields = "#{@buddy_managed} #{@buddy_owner} #{@buddy_session} #{session_name}"

func parseListed(line string) (l listed, ok bool) {
	f := strings.SplitN(line, " ", 4)
	if len(f) < 4 {
		return l, false
	}
	return listed{managed: f[0] == "1" && f[1] == owner, identity: f[2], name: f[3]}, true
}

// findName asks tmux for our session and reports whether it exists; if not, it chooses a name for a new one.
func (s *server) findName(ctx context.Context) (found bool) {
	if !s.opt.Short {
		_, err := s.sup.tmux(ctx, "has-session", "-t", s.opt.target())
		return err == nil
	}
	out, err := s.sup.tmux(ctx, "list-sessions", "-F", listedFields)
	if err != nil {
		out = "" // no server runs; the next command reports any other error
	}
	taken := make(map[string]bool)
	for line := range strings.Lines(out) {
		l, ok := parseListed(strings.TrimSuffix(line, "\n"))
		if ok && l.managed && s.opt.ours(l.name, l.identity) {
			s.opt.name.set(l.name)
			return true
		}
		taken[l.name] = ok
	}
	if taken[s.opt.tmuxName()] {
		s.opt.name.set(shortName(s.opt.Session, func(name string) bool { return taken[name] }))
	}
	return false
}

// retries limits how often a session is created again because another program took the name, or the server was ending.
const retries = 3

// create creates the session with the shared pane in it.
func (s *server) create(ctx context.Context) error {
	for try := 0; ; try++ {
		out, err := s.sup.tmux(ctx, s.creation()...)
		if err == nil {
			return nil
		}
		why := reason(out, err)
		if strings.Contains(why, "server exited") && try < retries {
			continue // its last session ended meanwhile
		}
		if !s.opt.Short || try == retries || !strings.Contains(why, "duplicate session") || s.findName(ctx) {
			return fmt.Errorf("%w: new-session %s: %s", ErrUnavailable, s.opt.tmuxName(), why)
		}
	}
}
