// Package worktree runs sessions in separate git worktrees, so that several agents can change a repository at the
// same time. It creates, lists and merges worktrees, and removes one if nothing would be lost.
//
//	t, dir, err := worktree.Enter(ctx, ".", worktree.Request{Name: "fix-tax"})
//	defer t.Release() // t keeps others from removing the worktree until the session has its own lock
package worktree

import (
	"context"

	"buddy/agent/event"
	"buddy/agent/turn"
	"buddy/app/slash"
	"buddy/features/feature"
)

// Feature has the commands, and holds the worktree of a session.
var Feature = &feature.Feature{
	Commands: []feature.Command{listCommand, mergeCommand},
	Part: func(s feature.Session) turn.Part {
		if s.Target != slash.ThisMachine || len(s.Folders) == 0 {
			return nil
		}
		t := At(s.Folders[0])
		if t == nil {
			return nil
		}
		return &Part{tree: t, within: s.Folders[0], held: t.Hold(), trusted: s.Config.Project.Trusted, publish: s.Publish}
	},
}

// Part holds the worktree of a session until the session ends.
type Part struct {
	turn.Nothing
	tree    *Tree
	within  string // the session's folder
	held    error  // why it is not held; nil if it is
	trusted bool
	stays   bool // another session follows here
	publish func(event.Event)
}

// Name implements [turn.Part].
func (*Part) Name() string { return "worktree" }

// Begin shows what the person should know about a new worktree.
func (p *Part) Begin(turn.Session) {
	if p.held != nil {
		p.publish(event.Warning{Text: p.held.Error(), Code: "worktree"})
		return
	}
	for _, text := range p.tree.TakeNotices() {
		p.publish(event.Notice{Text: text, Code: "worktree"})
	}
}

// Stay keeps the worktree at the end of the session, because another session follows in it.
func (p *Part) Stay() { p.stays = true }

// Leave ends the session's use of the worktree, see [Tree.Leave].
func (p *Part) Leave(ctx context.Context, mayRemove bool) string {
	if p.stays || p.held != nil {
		p.tree.Release()
		return ""
	}
	return p.tree.Leave(ctx, p.trusted, mayRemove)
}
