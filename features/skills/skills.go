// Package skills lists a session's skills and custom commands, and loads one when the user or the model calls it.
// Package skill parses their files.
package skills

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"buddy/agent/event"
	"buddy/agent/lostlimit"
	"buddy/agent/turn"
	"buddy/extensions"
	"buddy/extensions/skill"
)

// readTime limits the reading of skills. Skills not read by then are left out.
const readTime = 5 * time.Second

// Set holds skills in the order of precedence, and the problems of others.
type Set struct {
	Skills   []skill.Skill
	Problems []extensions.Problem
}

// Options configure a Book. The zero value has no skills.
type Options struct {
	// Read finds the skills; nil: there are none. It is called before the first request, after each compaction and each
	// Refresh, and takes a few seconds at most.
	Read func(context.Context) (Set, error)
	// Below searches folders of the workspace for skills, which Read returns from then on, and reports whether it found
	// new ones; nil: there are none.
	Below func(ctx context.Context, dirs []string) (found bool, err error)
	// IsFile reports whether a path in a skill's text exists. The path is absolute, starts with ~ or is relative to the
	// workspace. If IsFile is nil, texts attach no files.
	IsFile func(ctx context.Context, name string) bool
	Off    []string    // globs of names that are switched off
	Fill   skill.Facts // values for placeholders in texts
	Away   bool        // the project is on another machine, so commands in its texts do not run
}

// Book holds the skills of a session and is a part of its turns. It is safe for concurrent use; use New.
type Book struct {
	turn.Nothing
	o      Options
	s      turn.Session
	once   sync.Once
	first  chan struct{} // closed after the first reading
	reopen sync.Once     // allows the files of skills that an earlier process loaded
	below  below
	stale  atomic.Bool // the skills must be read again

	reading sync.Mutex // held while files are read

	mu       sync.Mutex // guards all below
	set      Set
	lost     lostlimit.Said  // problems that the person knows
	switched map[string]bool // on or off in this session, by name
	used     map[string]int  // number of uses by name
	listed   []event.CustomCommand
}

// New returns an empty book.
func New(o Options) *Book {
	return &Book{
		o: o, first: make(chan struct{}), switched: make(map[string]bool), used: make(map[string]int),
		below: below{folders: make(map[string]bool), asked: make(map[string]string)},
	}
}

// Name implements turn.Part.
func (*Book) Name() string { return "skills" }

// Begin reads the skills when the session starts.
func (b *Book) Begin(s turn.Session) {
	b.s = s
	s.Stream.Observe(b.see)
}

// see handles an event of the session.
func (b *Book) see(env event.Envelope) {
	switch env.Payload.(type) {
	case event.SessionCreated, event.SessionResumed:
		b.readEarly()
	case event.ContextCompacted:
		b.stale.Store(true)
	default:
		b.below.see(env.Payload, b.s.Target)
	}
}

// Replay applies a stored event of an earlier process.
func (b *Book) Replay(env event.Envelope) {
	if p, ok := env.Payload.(event.SkillLoaded); ok {
		b.countUse(p.Name)
	}
	b.below.see(env.Payload, b.s.Target)
}

func (b *Book) countUse(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used[name]++
}

// readEarly starts reading the skills, once, while the person still types.
func (b *Book) readEarly() {
	if b.o.Read == nil {
		return
	}
	b.once.Do(func() {
		b.s.Work.Go(func() {
			b.lookBelow(b.s.Context, maxRecent)
			b.read(b.s.Context)
			close(b.first)
			if b.stale.Load() { // a Refresh came during the reading and may concern files that were already read
				b.read(b.s.Context)
			}
		})
	})
}

// await waits until the skills are up to date, or ctx ends.
func (b *Book) await(ctx context.Context) {
	if b.o.Read == nil {
		return
	}
	b.readEarly()
	select {
	case <-b.first:
	case <-ctx.Done():
		return
	}
	b.lookBelow(ctx, maxFiles)
	if b.stale.Load() {
		b.read(ctx)
	}
}

// Refresh reads the skills again in the background, because files have changed.
func (b *Book) Refresh() {
	b.stale.Store(true)
	select {
	case <-b.first:
		if b.s.Context.Err() == nil {
			b.s.Work.Go(func() { b.read(b.s.Context) })
		}
	default: // readEarly reads again after the first reading
	}
}

// read reads the skills, unless another call has done so since they became stale.
func (b *Book) read(ctx context.Context) {
	b.reading.Lock()
	defer b.reading.Unlock()
	b.mu.Lock()
	fresh := !b.stale.Swap(false) && b.set.Skills != nil
	b.mu.Unlock()
	if fresh {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	set, err := b.o.Read(ctx)
	if err != nil && b.s.Context.Err() == nil {
		b.s.Stream.Publish(0, 0, event.Warning{Text: "not all skills and commands were read: " + err.Error(), Code: "skills", NextStep: "/compact or a new session tries again"})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil && len(b.set.Skills) > len(set.Skills) {
		return // an incomplete set must not replace a larger one
	}
	b.set = set
	b.lost.Tell(b.s.Stream, set.Problems)
	b.wake(b.below.used())
	b.publish()
}

// publish publishes the list of commands if it has changed. The caller holds b.mu.
func (b *Book) publish() {
	var now []event.CustomCommand
	for _, s := range b.set.Skills {
		if s.Typed && !b.off(s.Name) {
			now = append(now, event.CustomCommand{Name: s.Name, Args: s.Hint, Help: s.Description, Origin: string(s.Origin)})
		}
	}
	if !slices.Equal(now, b.listed) {
		b.listed = now
		b.s.Stream.Publish(0, 0, event.CommandsListed{Commands: now})
	}
}

// off reports whether a skill is switched off. The caller holds b.mu.
func (b *Book) off(name string) bool {
	if on, ok := b.switched[name]; ok {
		return !on
	}
	return slices.ContainsFunc(b.o.Off, func(glob string) bool {
		ok, err := path.Match(glob, name)
		return ok && err == nil
	})
}

// on returns the skills that are not switched off. The caller holds b.mu.
func (b *Book) on() []skill.Skill {
	return slices.DeleteFunc(slices.Clone(b.set.Skills), func(s skill.Skill) bool { return b.off(s.Name) })
}

// find returns a skill by name, unless it is switched off.
func (b *Book) find(name string) (skill.Skill, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.on()
	if i := slices.IndexFunc(all, func(s skill.Skill) bool { return s.Name == name }); i >= 0 {
		return all[i], true
	}
	return skill.Skill{}, false
}

// Commands returns the skills and custom commands that a person may call, once they are read.
func (b *Book) Commands(ctx context.Context) []event.CustomCommand {
	b.await(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.listed)
}

// LeftOut returns the problems of files, once they are read.
func (b *Book) LeftOut(ctx context.Context) []extensions.Problem {
	b.await(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.set.Problems)
}

// names returns the names of the skills that the model may load.
func (b *Book) names() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for _, s := range b.on() {
		if s.Listed || s.Origin == extensions.BuiltIn {
			names = append(names, s.Name)
		}
	}
	return names
}

// lines returns the list of skills for a model whose context window has the given number of tokens.
func (b *Book) lines(window int) []skill.Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	return skill.Lines(b.on(), window, b.used)
}

// Switch switches a skill on or off for this session and publishes a notice.
func (b *Book) Switch(name string, on bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.ContainsFunc(b.set.Skills, func(s skill.Skill) bool { return s.Name == name }) {
		return fmt.Errorf("there is no skill %q (/skills lists them all)", name)
	}
	b.switched[name] = on
	text := name + " is on in this session"
	if !on {
		text = name + " is off in this session; [skills] off in your settings switches it off in all"
	}
	b.s.Stream.Publish(0, 0, event.Notice{Text: text, Code: "skills"})
	b.publish()
	return nil
}
