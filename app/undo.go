package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/views"
)

// undo takes how many prompts go back, and whether also what was changed since.
func undo(args string) (event.Command, error) {
	set := event.Undo{Steps: 1}
	for word := range strings.FieldsSeq(args) {
		if word == "--force" {
			set.Force = true
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not known (have: how many prompts go back, and --force)", word)
		}
		set.Steps = n
	}
	return set, nil
}

// noChanges is said when there is no diff.
const noChanges = "the agent's tools for files changed nothing in this session, or it was put back"

// showChanges opens the dialog with all that the agent changed.
func showChanges(u *ui, _ string) error {
	u.hint("", "comparing …")
	u.deps.background(func() func() {
		diff, files, err := u.deps.catalog.changes()
		return func() {
			switch {
			case err != nil:
				u.hint("", "/diff: "+err.Error())
			case files == 0:
				u.hint("", noChanges)
			default:
				u.hint("", "")
				u.openChanges(diff, files)
			}
		}
	})
	return nil
}

func (u *ui) openChanges(diff string, files int) {
	title := fmt.Sprintf("in %d files", files)
	if files == 1 {
		title = "in 1 file"
	}
	c := views.NewChanges(u.deps.theme, u.deps.keys, title, diff)
	c.OnCopy = u.copy
	c.OnEdit = u.lookAt("changes.diff")
	c.OnClose = func() { u.over.changes = nil }
	u.over.changes = c
}

// diffTime is how long comparing files may take.
const diffTime = time.Minute

// changes is what the agent changed in files in this session.
func (p *program) changes() (diff string, files int, err error) {
	rt := p.live.runtime()
	if rt == nil {
		return "", 0, errors.New("the session is still being read")
	}
	ctx, cancel := context.WithTimeout(context.Background(), diffTime)
	defer cancel()
	return rt.Changes(ctx, views.FileMark)
}

// runtime returns the runtime, nil before there is one.
func (l *live) runtime() *agent.Runtime {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rt
}
