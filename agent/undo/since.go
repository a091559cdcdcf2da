package undo

import (
	"context"
	"math"
	"strings"
)

// Never is larger than every prompt's number, so there are no changes since it.
const Never = math.MaxInt

// Change counts what was changed since a prompt of the main conversation. Preceding prompts that changed nothing have
// the same counts.
type Change struct {
	Prompt  int `json:"prompt"` // number of the prompt
	Files   int `json:"files"`  // files that differ now from their content before the prompt
	Added   int `json:"added"`  // lines
	Removed int `json:"removed"`
	// Later counts the prompts after the newest change, or is 0 if what those prompts had changed was just undone. It
	// is set only in the newest Change.
	Later int `json:"later,omitempty"`
}

// maxSince limits the prompts for which Since counts changes, to the newest.
const maxSince = 50

// Since counts the changes since each prompt that changed files, the oldest prompt first.
func (l *Log) Since(ctx context.Context) ([]Change, error) {
	l.Commands.Settle(ctx)
	var all []Change
	for _, prompt := range l.prompts() {
		l.mu.Lock()
		steps := l.since(prompt)
		l.mu.Unlock()
		text, files, err := l.diff(ctx, steps, nil, mark)
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

func (l *Log) prompts() (all []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.steps {
		if n := len(all); n == 0 || all[n-1] != s.prompted.last {
			all = append(all, s.prompted.last)
		}
	}
	return all[max(0, len(all)-maxSince):]
}

// mark precedes each line of a diff that names a file. No text contains a zero byte, so such lines are unmistakable.
const mark = "\x00"

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

// PathsSince returns the files that were changed since a prompt and not restored. On targets other than the first, a
// name includes the target: web:/etc/hosts.
func (l *Log) PathsSince(prompt int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var paths []string
	seen := make(map[string]bool)
	for _, s := range l.since(prompt) {
		for _, k := range s.kept {
			for _, path := range pathsOf(k.FileKept) {
				if name := l.placed(k.Target, []string{path})[0]; !seen[name] {
					seen[name] = true
					paths = append(paths, name)
				}
			}
		}
	}
	return paths
}
