package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/agent/instructions"
)

// instructionTime is how long instruction files may take to be read. What is not there by
// then is left out.
const instructionTime = 5 * time.Second

// guide is what the model is told by instruction files: read once, and again after each
// compaction, because only then the beginning of a request may change (DECISIONS 24).
type guide struct {
	once sync.Once
	done chan struct{} // closed when they were read for the first time

	// guarded by Runtime.mu
	set    instructions.Set
	stale  bool // a compaction came since
	below  instructions.Set
	dirs   map[string]bool // in which was looked for below
	speaks string          // what in any of them speaks to the agent
}

func newGuide() *guide { return &guide{done: make(chan struct{}), dirs: make(map[string]bool)} }

// readEarly reads the instruction files while the person still types.
func (r *Runtime) readEarly() {
	if r.opts.Instructions == nil {
		return
	}
	r.guide.once.Do(func() {
		r.done.Add(1)
		go func() {
			defer r.done.Done()
			defer close(r.guide.done)
			r.readInstructions(r.ctx)
		}()
	})
}

// instruct makes sure that the next request has the instructions.
func (r *Runtime) instruct(ctx context.Context) {
	if r.opts.Instructions == nil {
		return
	}
	r.readEarly()
	select {
	case <-r.guide.done:
	case <-ctx.Done():
		return
	}
	r.mu.Lock()
	stale := r.guide.stale
	r.guide.stale = false
	r.mu.Unlock()
	if stale {
		r.readInstructions(ctx)
	}
}

// readInstructions reads the files and tells them to every conversation.
func (r *Runtime) readInstructions(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, instructionTime)
	defer cancel()
	set, err := r.opts.Instructions(ctx)
	if err != nil && r.ctx.Err() == nil {
		r.emit(0, 0, event.Warning{Text: "instruction files were not read: " + err.Error(), Code: "instructions", NextStep: "/compact or a new session tries again"})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.guide.set.Text()
	if err != nil && before != "" {
		return // what is known is better than nothing
	}
	r.guide.set, r.guide.below, r.guide.speaks = set, instructions.Set{}, set.Injection()
	clear(r.guide.dirs) // what was told later is perhaps compacted away
	text := r.opts.Redact.Text(set.Text())
	if text == r.opts.Redact.Text(before) && len(set.Files) == 0 {
		return
	}
	r.setSystem()
	r.emit(0, 0, readFiles(set))
	r.warnOf(0, set)
}

// setSystem gives every conversation the system prompt with the instruction files. The caller
// holds r.mu.
func (r *Runtime) setSystem() {
	system := strings.TrimSpace(r.opts.System + "\n\n" + r.opts.Redact.Text(r.guide.set.Text()))
	r.main.hist.SetSystem(system)
	for _, c := range r.branches {
		c.hist.SetSystem(system)
	}
}

// warnOf tells the person what in files speaks to the agent. The caller holds r.mu.
func (r *Runtime) warnOf(task int, set instructions.Set) {
	if why := set.Injection(); why != "" {
		r.emit(task, 0, event.Warning{Text: why, Code: "instructions", NextStep: "look at the file; as long as it counts, more needs your yes ([context] instructions = false leaves such files out)"})
	}
}

func readFiles(set instructions.Set) event.InstructionsRead {
	e := event.InstructionsRead{Injection: set.Injection()}
	for _, f := range set.Files {
		e.Files = append(e.Files, event.InstructionFile{Path: f.Path, From: string(f.From), Bytes: f.Bytes, Sent: len(f.Text), Why: f.Why})
	}
	return e
}

// instructBelow tells the model the instruction files of folders below the working directory
// in which it has just begun to work, after all results of the turn.
func (r *Runtime) instructBelow(ctx context.Context, t *task, turn int) {
	r.mu.Lock()
	var dirs []string
	for _, file := range t.touched {
		for _, dir := range instructions.Below(r.opts.Policy.Workspace, file) {
			if !r.guide.dirs[dir] && len(r.guide.dirs) < maxGuided {
				r.guide.dirs[dir] = true
				dirs = append(dirs, dir)
			}
		}
	}
	touched := t.touched
	t.touched = nil
	r.mu.Unlock()
	if len(dirs) == 0 || r.opts.InstructionsOf == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, instructionTime)
	defer cancel()
	set, err := r.opts.InstructionsOf(ctx, dirs) // one that is missing is told the next time
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		for _, dir := range dirs {
			delete(r.guide.dirs, dir)
		}
	}
	set.Files = slices.DeleteFunc(set.Files, func(f instructions.File) bool {
		return slices.Contains(touched, f.Path) || r.guide.knows(f) // what the model has in hand it knows
	})
	text := r.opts.Redact.Text(set.Reminder())
	if text == "" {
		return
	}
	r.guide.below.Files = append(r.guide.below.Files, set.Files...)
	r.guide.speaks = cmp.Or(r.guide.speaks, set.Injection())
	r.emit(t.id, turn, readFiles(set))
	r.attach(t.talk, t.id, turn, event.ReminderAttached{Kinds: []string{"instructions"}, Text: text})
	r.warnOf(t.id, set)
}

// maxGuided is in how many folders is looked for instructions, up to a compaction.
const maxGuided = 200

// knows reports whether a file was told already, or is too much beside those that were.
func (g *guide) knows(f instructions.File) bool {
	room := instructions.MaxAll
	for _, known := range slices.Concat(g.set.Files, g.below.Files) {
		if known.Path == f.Path {
			return true
		}
	}
	for _, known := range g.below.Files {
		room -= len(known.Text)
	}
	return len(f.Text) > room
}

// list lists the files for a report. The caller holds r.mu.
func (g *guide) list() string {
	files := slices.DeleteFunc(append(readFiles(g.set).Files, readFiles(g.below).Files...), func(f event.InstructionFile) bool { return f.Bytes == 0 && f.Why == "" })
	if len(files) == 0 {
		return ""
	}
	lines := []string{"instruction files:"}
	for _, f := range files {
		line := fmt.Sprintf("  %s  %d bytes, from the %s", f.Path, f.Sent, f.From)
		if f.Why != "" {
			line += " (" + f.Why + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
