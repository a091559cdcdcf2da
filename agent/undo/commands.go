package undo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/undo/snapshot"
	"buddy/tools"
	"buddy/tools/file"
)

// Commands is the part of a [Log] that records what commands change on this machine, in the folders of a
// [snapshot.Tree].
type Commands struct {
	log    *Log
	tree   *snapshot.Tree // nil: commands are not covered
	target string         // of the folders
	settle func(context.Context) (background []int)
}

// Cover sets the tree and its target. settle must record the changes of commands that are still running, and return the
// numbers of the tasks to which they belong. Call Cover before the first event.
func (c *Commands) Cover(t *snapshot.Tree, target string, settle func(context.Context) (background []int)) {
	c.tree, c.target, c.settle = t, target, settle
}

// Covered reports whether the changes of commands are recorded.
func (c *Commands) Covered() bool { return c.tree != nil }

// Settle records the changes so far of commands that are still running, before an undo or a comparison. It returns the
// numbers of these commands' tasks, whose later changes are not known yet.
func (c *Commands) Settle(ctx context.Context) (background []int) {
	if c.settle == nil {
		return nil
	}
	return c.settle(ctx)
}

// Ran records what the command in call.Planned has changed. git describes how it moved a branch, "" if it did not.
// Changes that file tools have already recorded are left out.
func (c *Commands) Ran(task, turn int, call tools.Call, changes []snapshot.Change, git string) error {
	l := c.log
	l.mu.Lock()
	defer l.mu.Unlock()
	changes = slices.DeleteFunc(changes, func(one snapshot.Change) bool { return byTool(l.steps, one) })
	if len(changes) == 0 && (git == "" || !l.inNewest(task)) {
		return nil
	}
	list, err := c.tree.Write(changes)
	if err != nil {
		return err
	}
	e := event.FileKept{CallID: call.ID, Target: c.target, Command: call.Planned.Command, List: list, Count: len(changes), Git: git}
	if err := l.stream.Record(task, turn, e); err != nil {
		return err
	}
	l.add(call.Reader, task, e)
	return nil
}

// byTool reports whether a file tool, not a command that ran in the background, made a change.
func byTool(steps []step, c snapshot.Change) bool {
	searched := 0
	for _, s := range slices.Backward(steps) {
		for _, k := range slices.Backward(s.kept) {
			if searched++; searched > maxSearched {
				return false
			}
			for _, f := range k.Files {
				if f.Path == c.Path {
					return afterOf(f).Same(c.After)
				}
			}
		}
	}
	return false
}

// afterOf returns the state in which a file tool left a file.
func afterOf(f event.KeptFile) snapshot.State {
	if f.After == "" {
		return snapshot.State{}
	}
	return snapshot.State{Kind: snapshot.File, Sum: f.After}
}

// pathsOf returns the paths that a call has changed; for a command, at most maxPaths.
func pathsOf(e event.FileKept) (paths []string) {
	for _, f := range e.Files {
		paths = append(paths, f.Path)
	}
	if e.List != "" {
		changes, _ := snapshot.Read(e.List) // an unreadable list has no paths
		for _, c := range changes[:min(len(changes), maxPaths)] {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

// maxPaths limits the changed paths of one command that events and reminders name.
const maxPaths = 20

// changes merges the changes that steps made on the tree's target, by commands and by file tools.
func (c *Commands) changes(steps []step) ([]snapshot.Change, error) {
	if c.tree == nil {
		return nil, errors.New("changes of commands can't be undone here: see [undo] commands in the settings")
	}
	var lists [][]snapshot.Change
	for _, s := range steps {
		for _, k := range s.kept {
			if k.Target != c.target {
				continue
			}
			changes, err := c.changesOf(k.FileKept)
			if err != nil {
				return nil, err
			}
			lists = append(lists, changes)
		}
	}
	return snapshot.Merge(lists...), nil
}

func (c *Commands) changesOf(e event.FileKept) ([]snapshot.Change, error) {
	if e.List != "" {
		return snapshot.Read(e.List)
	}
	var all []snapshot.Change
	for _, f := range e.Files {
		one := snapshot.Change{Path: f.Path, After: afterOf(f)}
		if f.Existed {
			one.Before = snapshot.State{Kind: snapshot.File}
		}
		if f.Copy != "" {
			b, err := readCopy(f)
			if err != nil {
				return nil, err
			}
			if !b.Lost {
				sum, err := c.tree.Add(b.Data)
				if err != nil {
					return nil, err
				}
				one.Before = snapshot.State{Kind: snapshot.File, Perm: b.Perm, Size: int64(len(b.Data)), Sum: sum}
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// treeUndo is the part of an [Undo] for the changes of commands.
type treeUndo struct {
	list  string   // what was there before the undo
	paths []string // restored, at most maxPaths
	count int      // of restored paths
	left  []string // some paths that could not be restored
}

// putBackTree is putBack for steps in which commands changed files.
func (u *Undo) putBackTree(on Files, force bool) error {
	changes, err := u.treeWanted()
	if err != nil {
		return err
	}
	tree := u.log.Commands.tree
	done, err := tree.Restore(u.ctx, changes, force, u.announceTree)
	if u.changed = done.Changed; force {
		u.changed = nil
	}
	if err == nil && len(done.Changed) == 0 && !u.announced {
		err = u.announceTree(nil) // an interrupted undo has restored everything
	}
	if err != nil {
		return err
	}
	u.tree.count = len(done.Changes)
	var all []string
	for _, c := range done.Changes {
		all = append(all, c.Path)
	}
	on.Forget(all)
	u.tree.paths = all[:min(len(all), maxPaths)]
	for _, path := range done.Left[:min(len(done.Left), maxPrompts)] {
		u.tree.left = append(u.tree.left, tree.Name(path))
	}
	if more := len(done.Left) - len(u.tree.left); more > 0 {
		u.tree.left = append(u.tree.left, fmt.Sprintf("%d more", more))
	}
	if len(done.Changed) == 0 || force {
		_, err = tree.Scan(u.ctx) // later changes are compared with the restored files
		if errors.Is(err, snapshot.ErrTooLarge) {
			err = nil
		}
	}
	return err
}

func (u *Undo) treeWanted() ([]snapshot.Change, error) {
	l := u.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if u.redo != nil {
		return snapshot.Read(u.redo.list)
	}
	return l.Commands.changes(u.steps)
}

// announceTree stores the list of changes that will be restored, and announces it. The list also keeps what an
// interrupted undo has restored.
func (u *Undo) announceTree(changes []snapshot.Change) error {
	l := u.log
	l.mu.Lock()
	half := l.half
	l.mu.Unlock()
	if u.redo == nil {
		if half.undo() && half.list != "" {
			earlier, err := snapshot.Read(half.list)
			if err != nil {
				return err
			}
			changes = snapshot.Join(earlier, changes)
		}
		var err error
		if u.tree.list, err = l.Commands.tree.Write(changes); err != nil {
			return err
		}
	}
	return u.announce()
}

// explainGit tells the user how the undone commands had moved branches, because git's own files are not restored.
func (u *Undo) explainGit() {
	if u.redo != nil {
		return
	}
	var lines []string
	for _, s := range u.steps {
		for _, k := range s.kept {
			if k.Git != "" && !slices.Contains(lines, k.Git) {
				lines = append(lines, k.Git)
			}
		}
	}
	if len(lines) > 0 {
		u.log.stream.Publish(0, 0, event.Notice{Text: "git: " + strings.Join(lines, "; "), Code: "undo"})
	}
}

// maxCompared limits the files whose text is compared after commands changed them. The other files are only counted.
const maxCompared = 1000

// diff is [Log.diff] for steps in which commands changed files.
func (c *Commands) diff(ctx context.Context, on Files, steps, later []step, mark string) (text string, count int, err error) {
	c.log.mu.Lock()
	changes, err := c.changes(steps)
	if err != nil {
		c.log.mu.Unlock()
		return "", 0, err
	}
	since, err := c.changes(later)
	c.log.mu.Unlock()
	if err != nil {
		return "", 0, err
	}
	end := make(map[string]snapshot.State, len(since)) // of the paths that changed again later
	for _, one := range since {
		end[one.Path] = one.Before
	}
	var out strings.Builder
	for i, one := range changes {
		if i == maxCompared {
			fmt.Fprintf(&out, "%s… %d more files\n", mark, len(changes)-i)
			return out.String(), count + len(changes) - i, nil
		}
		then, again := end[one.Path]
		if !again {
			if then, err = c.tree.Present(ctx, one.Path); err != nil {
				return "", 0, err
			}
		}
		if then.Same(one.Before) {
			continue
		}
		count++
		text, err := c.compare(ctx, on, one, then, again, mark)
		if err != nil {
			return "", 0, err
		}
		out.WriteString(text)
	}
	return out.String(), count, nil
}

// compare returns the difference between a path's state before a change and the later state then. If stored is false,
// then is the present state, and a file's text is read from its target.
func (c *Commands) compare(ctx context.Context, on Files, one snapshot.Change, then snapshot.State, stored bool, mark string) (string, error) {
	files := func(s snapshot.State) bool { return s.Kind == snapshot.File || s.Kind == snapshot.None }
	name := filepath.ToSlash(c.tree.Name(one.Path))
	switch {
	case !files(one.Before) || !files(then) || one.Before.Sum == then.Sum:
		return fmt.Sprintf("%s%s  %s → %s\n", mark, name, one.Before.Words(), then.Words()), nil
	case stored:
		sizes, lines, _ := strings.Cut(file.Difference(name, c.stored(one.Before), c.stored(then)), "\n")
		return fmt.Sprintf("%s%s  %s\n%s", mark, name, sizes, lines), nil
	}
	b := tools.Before{Path: one.Path, Existed: one.Before.Kind == snapshot.File, Perm: one.Before.Perm}
	var err error
	if b.Existed {
		if b.Data, err = c.tree.Content(one.Before); err != nil {
			b.Lost = true
		}
	}
	text, _, err := on.Difference(ctx, []tools.Before{b}, mark)
	return text, err
}

// stored returns the content of a recorded state. Data is nil if the store no longer has a copy.
func (c *Commands) stored(s snapshot.State) file.Content {
	data, _ := c.tree.Content(s) // without a copy, only the sizes are compared
	return file.Content{Exists: s.Kind == snapshot.File, Size: s.Size, Data: data}
}
