package tmux

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"buddy/texts"
)

// MaxPanes limits the number of panes in a session, including the shared pane.
const MaxPanes = 5

// ErrPanes means that the session already has MaxPanes panes. The message lists them.
var ErrPanes = errors.New("no room for another pane")

const (
	ownPrefix = "own-" // prefix of the roles of panes that belong to one command
	ownMark   = "own"  // file in the folder of a command with its own pane; it holds the pane's title

	closeLimit = 20 * time.Second // for closing a pane after its command
)

// commandPanes holds the panes that run a single command each.
type commandPanes struct {
	mu    sync.Mutex              // guards the fields below
	panes map[string]*commandPane // by key
	work  sync.WaitGroup          // closing panes of ended commands
}

// commandPane is a pane for a single command. Without tmux, it is a separate shell.
type commandPane struct {
	runner runner
	title  string
	ended  bool // the command has ended; a remaining job may keep the pane open
}

// ownKey returns the key of a command's pane, a hash of the command's folder, so that every process finds the same
// pane.
func ownKey(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:4])
}

// cleanTitle turns any text into a pane title: one line of at most 40 characters. It replaces "#", which would start a
// tmux format, because formats can run commands.
func cleanTitle(s string) string {
	s = texts.OneLine(s)
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '#', r == unicode.ReplacementChar:
			return '_'
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
	return cmp.Or(texts.Clip(s, 40), "command")
}

// claim reserves a pane for the command whose folder is dir, and returns the pane's key. The error is ErrPanes if the
// session has no room for another pane.
func (s *Session) claim(ctx context.Context, dir, title string) (string, *commandPane, error) {
	s.reap(ctx)
	key := ownKey(dir)
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	if len(s.own.panes) >= MaxPanes-1 {
		var names []string
		for _, o := range s.own.panes {
			names = append(names, strings.TrimSpace(fmt.Sprintf("%s (%s)", o.runner.pane(), o.title)))
		}
		slices.Sort(names)
		return "", nil, fmt.Errorf("%w: at most %d at a time; kill one of these first: %s", ErrPanes, MaxPanes, strings.Join(names, ", "))
	}
	o := &commandPane{runner: s.runnerFor(key, title), title: title}
	if s.own.panes == nil {
		s.own.panes = make(map[string]*commandPane)
	}
	s.own.panes[key] = o
	return key, o, nil
}

// unclaim gives up the pane that claim reserved.
func (s *Session) unclaim(key string) {
	s.own.mu.Lock()
	delete(s.own.panes, key)
	s.own.mu.Unlock()
}

// startOwn starts a command in its own pane.
func (s *Session) startOwn(ctx context.Context, dir string, spec Spec) (*Running, error) {
	title := spec.Title
	if title == "" {
		title = spec.Command
	}
	title = cleanTitle(title)
	key, own, err := s.claim(ctx, dir, title)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, ownMark), []byte(title), 0o600); err != nil {
		s.unclaim(key)
		return nil, err
	}
	job, err := s.launch(ctx, own.runner, dir, spec)
	if err != nil {
		s.own.work.Go(func() { s.retireSoon(key, own) })
		return nil, err
	}
	askAbout(job, spec.Hosts)
	return s.keep(key, own, dir, job, spec.Output), nil
}

// keep follows a command in its own pane and closes the pane when the command ends.
func (s *Session) keep(key string, own *commandPane, dir string, job job, output Output) *Running {
	run := s.follow(own.runner, dir, job, output)
	s.own.work.Go(func() {
		select {
		case <-run.done:
			s.retireSoon(key, own)
		case <-s.ctx.Done():
		}
	})
	return run
}

// errShared means that a command ran in the shared pane, not in its own.
var errShared = errors.New("the command has no pane of its own")

// reattachOwn follows a command that an earlier process started in a pane of its own. For any other command it returns
// errShared.
func (s *Session) reattachOwn(ctx context.Context, dir string, output Output) (*Running, error) {
	title, err := os.ReadFile(filepath.Join(dir, ownMark))
	if err != nil {
		return nil, errShared
	}
	key := ownKey(dir)
	s.own.mu.Lock()
	own := s.own.panes[key]
	if own == nil {
		own = &commandPane{runner: s.runnerFor(key, string(title)), title: string(title)}
		if s.own.panes == nil {
			s.own.panes = make(map[string]*commandPane)
		}
		s.own.panes[key] = own
	}
	s.own.mu.Unlock()
	job, err := own.runner.attach(ctx, dir)
	if err != nil {
		s.retire(key, own)
		return nil, err
	}
	return s.keep(key, own, dir, job, output), nil
}

// retireSoon closes the pane of a command that has ended. It tries for about three seconds, because the command's
// output may end a little later than the command. A pane that a background job keeps open for longer is closed by reap
// before the next pane opens.
func (s *Session) retireSoon(key string, own *commandPane) {
	for wait := 100 * time.Millisecond; !s.retire(key, own) && wait < 2*time.Second; wait *= 2 {
		select {
		case <-time.After(wait):
		case <-s.ctx.Done():
			return
		}
	}
}

// retire closes the pane of a command that has ended. It returns false while a background job of the command keeps the
// pane open.
func (s *Session) retire(key string, own *commandPane) bool {
	ctx, stop := context.WithTimeout(context.WithoutCancel(s.ctx), closeLimit)
	defer stop()
	kept, err := own.runner.close(ctx)
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	own.ended = true
	closed := len(kept) == 0 && err == nil
	if closed && s.own.panes[key] == own {
		delete(s.own.panes, key)
	}
	return closed
}

// reap closes the panes of ended commands, unless a background job keeps them open.
func (s *Session) reap(ctx context.Context) {
	s.adopt(ctx)
	s.own.mu.Lock()
	ended := make(map[string]*commandPane)
	for key, o := range s.own.panes {
		if o.ended {
			ended[key] = o
		}
	}
	s.own.mu.Unlock()
	for key, o := range ended {
		s.retire(key, o)
	}
}

// adopt takes over the panes of an earlier process of this session. These count towards MaxPanes; a pane is closed when
// nothing runs in it.
func (s *Session) adopt(ctx context.Context) {
	if s.srv == nil {
		return
	}
	for _, p := range s.srv.orphans(ctx) {
		key := strings.TrimPrefix(p.role, ownPrefix)
		s.own.mu.Lock()
		if s.own.panes == nil {
			s.own.panes = make(map[string]*commandPane)
		}
		if s.own.panes[key] == nil {
			s.own.panes[key] = &commandPane{runner: s.runnerFor(key, p.Title), title: p.Title, ended: true}
		}
		s.own.mu.Unlock()
	}
}

// closeOwns closes the panes of single commands, except those in which a program still runs. For each remaining pane,
// kept holds the name of the tmux session once.
func (s *Session) closeOwns(ctx context.Context) (kept []string, err error) {
	s.own.work.Wait()
	s.own.mu.Lock()
	panes := slices.Collect(maps.Values(s.own.panes))
	s.own.panes = nil
	s.own.mu.Unlock()
	for _, o := range panes {
		l, e := o.runner.close(ctx)
		if s, ok := o.runner.(*managedPane); ok {
			s.release()
		}
		kept, err = append(kept, l...), errors.Join(err, e)
	}
	return kept, err
}
