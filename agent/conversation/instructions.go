package conversation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/agent/instructions"
	"buddy/agent/redact"
	"buddy/agent/reminder"
	"buddy/agent/stream"
)

// instructionTime limits the time to read instruction files. Files that are not read by then are left out.
const instructionTime = 5 * time.Second

// maxFolders limits the number of folders in which instruction files are looked up for one conversation until its next
// compaction.
const maxFolders = 200

// below holds the instruction files of subfolders that the model of a conversation has got since the last compaction.
type below struct {
	dirs map[string]bool // folders that were searched
	set  instructions.Set
	used []string // files for which instructions were added
	lost bool     // a compaction removed the instructions for the files in used and in the working memory
}

// clone returns an independent copy for a fork.
func (b *below) clone() below {
	return below{maps.Clone(b.dirs), instructions.Set{Files: slices.Clone(b.set.Files), Rules: slices.Clone(b.set.Rules)}, slices.Clone(b.used), b.lost}
}

// knows reports whether a file must not be added, because the conversation already has it or because all files together
// would become too large.
func (b *below) knows(f instructions.File) bool {
	room := instructions.MaxAll
	for _, known := range b.set.Files {
		if known.Path == f.Path {
			return true
		}
		room -= len(known.Text)
	}
	return len(f.Text) > room
}

// Sources holds the functions that read instruction files. A nil function reads none.
type Sources struct {
	Read      func(context.Context) (instructions.Set, error)
	ReadBelow func(ctx context.Context, dirs []string) (instructions.Set, error) // in folders below Workspace
	Workspace string
	Redact    *redact.Redactor
}

// Instructions adds instruction files to the conversations of a tree. The workspace's files precede the first prompt.
// They are read at the start and after each compaction, but not in between, because a provider caches the start of a
// request only while it stays the same. A subfolder's files become a reminder when the model starts to work there.
// Instructions is safe for concurrent use; create it with NewInstructions. Its lock is taken before those of the tree.
type Instructions struct {
	from   Sources
	tree   *Tree
	stream *stream.Stream
	once   sync.Once
	done   chan struct{}   // closed after the first read
	whole  context.Context // ends with the session
	work   *sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	here     string     // text before the files, about where the model works
	set      instructions.Set
	stale    bool            // a compaction came after the last read
	injected string          // prompt injection in one of the files
	warned   map[string]bool // warnings the person has had, by path and reason
}

// NewInstructions returns instructions that have read no files yet. here tells the model where it works; in every
// conversation of the tree it precedes the instructions. Reading in the background stops when ctx ends, and work counts
// it.
func NewInstructions(ctx context.Context, work *sync.WaitGroup, s *stream.Stream, t *Tree, here string, from Sources) *Instructions {
	i := &Instructions{whole: ctx, work: work, from: from, tree: t, stream: s, here: here, done: make(chan struct{})}
	i.apply()
	return i
}

// Replay processes a stored event, to restore the prompt injection that an earlier process found in a file.
func (i *Instructions) Replay(e event.Event) {
	if p, ok := e.(event.InstructionsRead); ok {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.injected = cmp.Or(p.Injection, i.injected)
	}
}

// ReadEarly starts to read the files in the background, once, while the user is still typing the first prompt.
func (i *Instructions) ReadEarly() {
	if i.from.Read == nil {
		return
	}
	i.once.Do(func() {
		i.work.Go(func() {
			defer close(i.done)
			i.read(i.whole)
		})
	})
}

// Await waits until the instructions are ready for the next request, or ctx ends. After Stale, it reads them again.
func (i *Instructions) Await(ctx context.Context) {
	if i.from.Read == nil {
		return
	}
	i.ReadEarly()
	select {
	case <-i.done:
	case <-ctx.Done():
		return
	}
	i.mu.Lock()
	stale := i.stale
	i.stale = false
	i.mu.Unlock()
	if stale {
		i.read(ctx)
	}
}

// Stale makes the next request read the files again.
func (i *Instructions) Stale() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stale = true
}

// apply puts the instructions, and the text about where the model works, into every conversation. The caller holds
// i.mu, unless it just created i.
func (i *Instructions) apply() {
	if text := strings.TrimSpace(i.here + "\n\n" + i.from.Redact.Text(i.set.Text())); text != "" {
		i.tree.SetHere(reminder.Wrap(text))
	}
}

// read reads the files and adds them to every conversation.
func (i *Instructions) read(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, instructionTime)
	defer cancel()
	set, err := i.from.Read(ctx)
	if err != nil && i.whole.Err() == nil {
		i.stream.Publish(0, 0, event.Warning{Text: "instruction files were not read: " + err.Error(), Code: "instructions", NextStep: "/compact or a new session tries again"})
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	before := i.set.Text()
	if err != nil && before != "" {
		return // keep the known files
	}
	i.set, i.injected = set, set.Injection()
	if i.from.Redact.Text(set.Text()) == i.from.Redact.Text(before) && len(set.Files) == 0 {
		return
	}
	i.apply()
	i.stream.Publish(0, 0, readFiles(set))
	i.warn(0, set)
}

// warn warns the user about a prompt injection in files, and once about each file that was cut or left out.
func (i *Instructions) warn(task int, set instructions.Set) {
	if why := set.Injection(); why != "" {
		i.stream.Publish(task, 0, event.Warning{Text: why, Code: "instructions", NextStep: "look at the file; while it is in use, more actions need your approval ([context] instructions = false leaves such files out)"})
	}
	for _, f := range set.Files {
		if f.Why == "" || f.Minor || i.warned[f.Path+f.Why] {
			continue
		}
		if i.warned == nil {
			i.warned = make(map[string]bool)
		}
		i.warned[f.Path+f.Why] = true
		why := ": left out: " + f.Why
		if f.Text != "" {
			why = ": cut: the model gets only " + f.Why
		}
		i.stream.Publish(task, 0, event.Warning{Text: "instruction file " + f.Path + why, Code: "instructions"})
	}
}

func readFiles(set instructions.Set) event.InstructionsRead {
	e := event.InstructionsRead{Injection: set.Injection()}
	for _, f := range set.Files {
		e.Files = append(e.Files, event.InstructionFile{Path: f.Path, From: string(f.From), Bytes: f.Bytes, Sent: len(f.Text), Why: f.Why})
	}
	return e
}

// Below adds the instructions for files that the model has just used: the rules that match the files, and the
// instruction files in their folders. Each is added once per conversation, and again after a compaction.
func (i *Instructions) Below(ctx context.Context, c *Conversation, task, turn int, files []string) {
	if i.from.ReadBelow == nil || len(files) == 0 || c.off != nil && c.off(reminder.Instructions) {
		return
	}
	i.attachFor(ctx, c, task, turn, files, files)
}

// Again adds the instructions for the files in use, if a compaction has removed them, so that the next call follows
// them. target is the target of the instruction files.
func (i *Instructions) Again(ctx context.Context, c *Conversation, task, turn int, target string) {
	if i.from.ReadBelow == nil || c.off != nil && c.off(reminder.Instructions) {
		return
	}
	if files := lost(c, target); len(files) > 0 {
		i.attachFor(ctx, c, task, turn, files, nil)
	}
}

// lost returns the files that the model is using on a target, if a compaction has removed their instructions. It
// returns them once.
func lost(c *Conversation, target string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &c.known.below
	if !b.lost {
		return nil
	}
	files := b.used
	for _, f := range c.known.work.Files {
		if (f.Target == "" || f.Target == target) && !slices.Contains(files, f.Path) {
			files = append(files, f.Path)
		}
	}
	b.used, b.lost = nil, false
	return files
}

// attachFor adds the instructions for files to a conversation. It skips the instruction files in inHand: the model has
// just read these itself.
func (i *Instructions) attachFor(ctx context.Context, c *Conversation, task, turn int, files, inHand []string) {
	set := i.readBelow(ctx, c, files)
	i.mu.Lock()
	defer i.mu.Unlock()
	added := i.unknown(c, set, files, inHand)
	text := i.from.Redact.Text(added.Reminder())
	if text == "" {
		return
	}
	i.injected = cmp.Or(i.injected, added.Injection())
	i.stream.Publish(task, turn, readFiles(added))
	c.Attach(task, turn, event.ReminderAttached{Kinds: []string{reminder.Instructions}, Text: text})
	i.warn(task, added)
}

// unknown returns the instructions that are new to a conversation, from the instruction files just read and from the
// rules that match the given files. It records them as known. The caller holds i.mu.
func (i *Instructions) unknown(c *Conversation, read instructions.Set, files, inHand []string) instructions.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &c.known.below
	b.set.Rules = append(b.set.Rules, read.Rules...)
	read.Files = append(read.Files, instructions.Set{Rules: slices.Concat(i.set.Rules, b.set.Rules)}.For(files)...)
	read.Files = slices.DeleteFunc(read.Files, func(f instructions.File) bool {
		inPrompt := slices.ContainsFunc(i.set.Files, func(known instructions.File) bool { return known.Path == f.Path })
		return slices.Contains(inHand, f.Path) || inPrompt || b.knows(f)
	})
	read = read.Fit()
	if len(read.Files) > 0 {
		b.used = append(b.used, files...)
		b.used = b.used[max(0, len(b.used)-maxFolders):]
	}
	b.set.Files = append(b.set.Files, read.Files...)
	return read
}

// readBelow reads the instruction files in the folders of the given files, except in folders that were already searched
// for the conversation.
func (i *Instructions) readBelow(ctx context.Context, c *Conversation, files []string) instructions.Set {
	dirs := newFolders(c, i.from.Workspace, files)
	if len(dirs) == 0 {
		return instructions.Set{}
	}
	ctx, cancel := context.WithTimeout(ctx, instructionTime)
	defer cancel()
	set, err := i.from.ReadBelow(ctx, dirs) // failed folders are read again the next time
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, dir := range dirs {
			delete(c.known.below.dirs, dir)
		}
	}
	return set
}

// newFolders returns the folders of the given files that have not been searched for a conversation yet, and marks them
// as searched.
func newFolders(c *Conversation, workspace string, files []string) (dirs []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &c.known.below
	for _, file := range files {
		for _, dir := range instructions.Below(workspace, file) {
			if b.dirs[dir] || len(b.dirs) == maxFolders {
				continue
			}
			if b.dirs == nil {
				b.dirs = make(map[string]bool)
			}
			b.dirs[dir] = true
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Injected describes the prompt injection in the current instruction files, or returns "".
func (i *Instructions) Injected() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.injected
}

// Sizes returns the instruction files that precede the first prompt, and the number of characters of their text.
func (i *Instructions) Sizes() (chars int, files []event.InstructionFile) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.from.Redact.Text(i.set.Text())), readFiles(i.set).Files
}

// knownBelow returns the instructions of subfolders that a conversation has.
func knownBelow(c *Conversation) instructions.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known.below.clone().set
}

// Files returns the instruction files of the main conversation, including files that were left out, with the reason.
func (i *Instructions) Files() []event.InstructionFile {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.DeleteFunc(append(readFiles(i.set).Files, readFiles(knownBelow(i.tree.Main())).Files...), func(f event.InstructionFile) bool { return f.Bytes == 0 && f.Why == "" })
}
