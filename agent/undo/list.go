package undo

import (
	"context"
	"slices"
)

// Step describes the changes that were made for one prompt and can be undone.
type Step struct {
	Prompt string   // its first words
	Paths  []string // of the changes, at most maxPaths of each command
	Count  int      // number of changed paths; those beyond Paths count for each command that changed them
	By     []string // the commands and, for file tools, the files
	Git    []string // how the commands moved branches
}

// Steps returns the steps that can be undone, the newest first: /undo N undoes the first N.
func Steps(l *Log) (all []Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range slices.Backward(l.steps) {
		one := Step{Prompt: s.title}
		files := make(map[string]bool)
		for _, k := range s.kept {
			for _, path := range pathsOf(k.FileKept) {
				if !files[path] {
					files[path] = true
					one.Paths = append(one.Paths, path)
				}
			}
			one.Count += max(0, k.Count-maxPaths)
			if k.Command != "" {
				one.By = append(one.By, k.Command)
			}
			if k.Git != "" {
				one.Git = append(one.Git, k.Git)
			}
		}
		one.Count += len(files)
		all = append(all, one)
	}
	return all
}

// DiffOf is [Log.Diff] for some steps: the newest n, except the newest later of them. If later is above 0, the log must
// cover commands.
func DiffOf(ctx context.Context, l *Log, n, later int, mark string) (diff string, count int, err error) {
	l.mu.Lock()
	end := max(0, len(l.steps)-later)
	steps, since := slices.Clone(l.steps[max(0, len(l.steps)-n):end]), slices.Clone(l.steps[end:])
	l.mu.Unlock()
	return l.diff(ctx, steps, since, mark)
}
