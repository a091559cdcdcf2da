package compose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/agent/review"
	"buddy/extensions/subagent"
	"buddy/texts"
	"buddy/tools/fs"
)

// newReviews returns how changes are reviewed. On other machines nothing is.
func newReviews(p *Program) agent.Reviews {
	def, err := subagent.Reviewer()
	if err != nil || p.Dest.Host != nil {
		return agent.Reviews{}
	}
	dir := p.Env.Dir
	return agent.Reviews{
		Agent: def, OutDir: p.Store.OutDir(p.ID),
		Find: func(ctx context.Context, base string) (review.Change, error) {
			return review.Find(ctx, gitIn(dir), base)
		},
		Place: func(_ context.Context, f event.Finding) event.Finding { return placeIn(dir, f) },
	}
}

// gitIn returns what runs git in a folder of this machine so that no program runs which the repository
// names: no hooks, filters, diff drivers or watchers.
func gitIn(dir string) review.Git {
	var filters []string
	known := false
	return func(ctx context.Context, args ...string) ([]byte, error) {
		if !known {
			out, _ := runGit(ctx, dir, nil, "config", "--name-only", "-z", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$`) // none is an error, too
			for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
				if name != "" {
					filters = append(filters, name)
				}
			}
			known = true
		}
		return runGit(ctx, dir, filters, args...)
	}
}

// runGit runs git with some settings emptied, and returns at most [review.MaxDiff] bytes of its output.
func runGit(ctx context.Context, dir string, emptied []string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, "git", append([]string{"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "diff.external="}, args...)...)
	c.Dir, c.WaitDelay = dir, time.Second
	c.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_EXTERNAL_DIFF=", fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(emptied)))
	for i, name := range emptied {
		value := ""
		if strings.HasSuffix(name, ".required") {
			value = "false"
		}
		c.Env = append(c.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, name), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	var said bytes.Buffer
	out := limited{max: review.MaxDiff}
	c.Stdout, c.Stderr = &out, &limited{Buffer: said, max: 4096}
	err := c.Run()
	if err != nil {
		if text := texts.OneLine(c.Stderr.(*limited).String()); text != "" {
			err = errors.New("git: " + texts.Clip(text, 300))
		}
		return nil, err
	}
	return out.Bytes(), nil
}

// limited keeps the first bytes that are written to it.
type limited struct {
	bytes.Buffer
	max int
}

// Write keeps what there is room for.
func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:max(0, min(len(p), l.max-l.Len()))])
	return len(p), nil
}

// placeIn returns a finding with the name of a file below dir, or with what is wrong with its place.
func placeIn(dir string, f event.Finding) event.Finding {
	name := f.File
	if name == "" {
		return f
	}
	if rel, err := filepath.Rel(dir, name); filepath.IsAbs(name) && err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	for _, try := range []string{name, strings.TrimPrefix(name, "a/"), strings.TrimPrefix(name, "b/")} {
		if !filepath.IsLocal(try) {
			f.Note = "the file is outside of this folder"
			return f
		}
		real, err := filepath.EvalSymlinks(filepath.Join(dir, try))
		if err != nil || !texts.Below(real, dir) {
			continue
		}
		info, err := os.Stat(real)
		if err != nil || !info.Mode().IsRegular() || info.Size() > fs.MaxText {
			continue
		}
		f.File = try
		return lineOf(real, f)
	}
	f.Note = "there is no such file"
	return f
}

// lineOf notes when a finding names a line that the file does not have.
func lineOf(file string, f event.Finding) event.Finding {
	data, err := os.ReadFile(file)
	if err != nil || f.Line == 0 {
		return f
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if f.Line > len(lines) {
		f.Note = fmt.Sprintf("the file has %d lines", len(lines))
		return f
	}
	return f
}
