package undo

import (
	"context"
	"math"
	"strings"
)

// Never is a prompt number after which there are no changes.
const Never = math.MaxInt

// Change counts the changes since a prompt of the main conversation. The counts also apply to prompts directly before
// it that changed nothing.
type Change struct {
	Prompt  int `json:"prompt"` // number of the prompt
	Files   int `json:"files"`  // files that differ now from their content before the prompt
	Added   int `json:"added"`  // lines
	Removed int `json:"removed"`
	// Later counts the prompts after the newest change, 0 if their changes were just undone. Only the newest Change has
	// it.
	Later int `json:"later,omitempty"`
}

// maxSince limits the prompts that are counted, to the newest.
const maxSince = 50

// Since returns the changes since each prompt that changed files, oldest first.
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

// prompts returns the prompts with changes, oldest first.
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

// mark starts the lines of a diff that name a file: no text contains a zero byte.
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

// PathsSince returns the files that were changed since a prompt and not restored. Names of files on other targets than
// the first include the target: web:/etc/hosts.
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
