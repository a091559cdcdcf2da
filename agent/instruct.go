package agent

import (
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
	set   instructions.Set
	stale bool // a compaction came since
}

func newGuide() *guide { return &guide{done: make(chan struct{})} }

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
	r.guide.set = set
	text := r.opts.Redact.Text(set.Text())
	if text == r.opts.Redact.Text(before) && len(set.Files) == 0 {
		return
	}
	system := strings.TrimSpace(r.opts.System + "\n\n" + text)
	r.main.hist.SetSystem(system)
	for _, c := range r.branches {
		c.hist.SetSystem(system)
	}
	r.emit(0, 0, readFiles(set))
	if why := set.Speaks(); why != "" {
		r.emit(0, 0, event.Warning{Text: why, Code: "instructions", NextStep: "look at the file; as long as it counts, more needs your yes ([context] instructions = false leaves such files out)"})
	}
}

func readFiles(set instructions.Set) event.InstructionsRead {
	var e event.InstructionsRead
	for _, f := range set.Files {
		e.Files = append(e.Files, event.InstructionFile{Path: f.Path, From: string(f.From), Bytes: f.Bytes, Sent: len(f.Text), Why: f.Why})
	}
	return e
}

// instructions lists the files for a report. The caller holds r.mu.
func (g *guide) list() string {
	files := slices.DeleteFunc(readFiles(g.set).Files, func(f event.InstructionFile) bool { return f.Bytes == 0 && f.Why == "" })
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
