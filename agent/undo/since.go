package undo

import (
	"context"
	"math"
	"strings"
)

// Never is the number of a prompt that no change came after.
const Never = math.MaxInt

// Change counts what has changed since a prompt of the main conversation, with what came before the next one
// that changed any.
type Change struct {
	Prompt  int `json:"prompt"` // its number
	Files   int `json:"files"`  // that differ now from what they were before it
	Added   int `json:"added"`  // lines
	Removed int `json:"removed"`
	// Later counts the prompts that came after the newest change, 0 also when their changes were taken back just now.
	// Older changes have none.
	Later int `json:"later,omitempty"`
}

// maxSince limits the prompts for which is counted, the newest.
const maxSince = 50

// Since returns the changes since each prompt that changed any, the oldest first.
func (l *Log) Since(ctx context.Context) ([]Change, error) {
	var all []Change
	for _, prompt := range l.prompts() {
		l.mu.Lock()
		steps := l.since(prompt)
		l.mu.Unlock()
		text, files, err := l.diff(ctx, steps, mark)
		if err != nil {
			return nil, err
		}
		c := Change{Prompt: prompt, Files: files}
		c.count(text)
		all = append(all, c)
	}
	if len(all) > 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.steps) > 0 {
			all[len(all)-1].Later = l.later()
		}
	}
	return all, nil
}

// prompts returns those that came before a step, the oldest first.
func (l *Log) prompts() (all []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.steps {
		if n := len(all); n == 0 || all[n-1] != s.said.last {
			all = append(all, s.said.last)
		}
	}
	return all[max(0, len(all)-maxSince):]
}

// mark begins the lines of a diff that name a file: no text has it.
const mark = "\x00"

// count counts the lines that a diff adds and removes.
func (c *Change) count(diff string) {
	body := false
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, mark):
			body = false
		case strings.HasPrefix(line, "@@"):
			body = true
		case body && line[0] == '+':
			c.Added++
		case body && line[0] == '-':
			c.Removed++
		}
	}
}

// PathsSince returns the files that were changed since a prompt and not put back, as [Undo] names them.
func (l *Log) PathsSince(prompt int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var paths []string
	seen := make(map[string]bool)
	for _, s := range l.since(prompt) {
		for _, k := range s.kept {
			for _, f := range k.Files {
				if name := l.placed(k.Target, []string{f.Path})[0]; !seen[name] {
					seen[name] = true
					paths = append(paths, name)
				}
			}
		}
	}
	return paths
}
