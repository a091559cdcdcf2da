package compose

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/adrg/xdg"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/hooks"
	"buddy/app/project"
	"buddy/app/slash"
	"buddy/features/mcp"
	"buddy/texts"
	"buddy/tmux/host/child"
	"buddy/tmux/pane/fence"
)

// inside sandboxes the programs that a session starts itself in auto mode: hooks, language servers, and MCP servers of
// the project. They need the sandbox because commands in auto mode may have changed the code they execute.
type inside struct {
	runtime atomic.Pointer[agent.Runtime] // nil before it starts

	mu   sync.Mutex   // guards the fields below
	last *fence.Fence // reused if nothing changed
	temp string       // the folder that programs see as /tmp
}

// auto reports whether auto mode is on.
func (i *inside) auto(p *Program) bool {
	if rt := i.runtime.Load(); rt != nil {
		return agent.ModeOf(rt) == action.ModeAuto
	}
	return p.Options.Mode == action.ModeAuto
}

// hold returns the sandbox for a program that starts now. It returns nil outside auto mode, and if the session's first
// target is not this machine. The program may read the paths in show and write the paths in keep, even outside the
// workspace. server means that the program runs as long as the session.
func (i *inside) hold(p *Program, server bool, show, keep []string) (child.Holder, error) {
	if p.Target != slash.ThisMachine || !i.auto(p) {
		return nil, nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.temp == "" {
		temp, err := os.MkdirTemp("", "buddy-inside-")
		if err != nil {
			return nil, err
		}
		i.temp = temp
	}
	env, _ := p.Config.Environ(os.Environ())
	c := fence.Config{Settings: *FenceSettings(p.Config.Sandbox, append([]string{p.Env.Dir}, p.Env.Also...), p.own().Files), Env: env, Temp: i.temp, Server: server}
	there := func(path string) bool {
		return path == "" || slices.ContainsFunc(slices.Concat(c.Work, c.Write), func(dir string) bool { return texts.Below(path, dir) })
	}
	c.Show, c.Keep = slices.DeleteFunc(show, there), slices.DeleteFunc(keep, there)
	f, err := i.last.Renew(c)
	if err != nil {
		return nil, fmt.Errorf("it must run inside the sandbox: %w", err)
	}
	i.last = f
	return f, nil
}

// close removes the programs' temporary folder after they have ended.
func (i *inside) close() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.temp == "" {
		return nil
	}
	return os.RemoveAll(i.temp)
}

// follow restarts MCP servers and language servers when auto mode starts, so that they run inside the sandbox.
func (i *inside) follow(p *Program, rt *agent.Runtime) {
	i.runtime.Store(rt)
	auto := p.Options.Mode == action.ModeAuto
	rt.Observe(func(env event.Envelope) {
		e, ok := env.Payload.(event.ModeChanged)
		if !ok {
			return
		}
		if e.Mode == action.ModeAuto && !auto {
			go p.Servers.Restart()
			go p.Checks.Restart()
		}
		auto = e.Mode == action.ModeAuto
	})
}

// starter returns the sandbox and environment of programs that a session starts itself.
type starter struct{ p *Program }

// holdHook returns the sandbox of a hook that runs now.
func (s starter) holdHook(h hooks.Handler) (child.Holder, error) {
	show, keep := []string{s.p.Store.File(s.p.ID), h.Copies}, []string(nil)
	switch h.Origin.Source {
	case hooks.Person:
		show = append(show, s.shownTo(append(strings.Fields(h.Command), h.Args...)...)...)
	case hooks.Plugin:
		show, keep = append(show, h.Origin.Root), []string{h.Origin.Data}
	}
	return s.p.inside.hold(s.p, false, show, keep)
}

// holdServer returns the sandbox of an MCP server that starts now.
func (s starter) holdServer(one mcp.Server) (child.Holder, error) {
	show, keep := append(s.shownTo(one.Process.Command...), one.Process.Copies), []string(nil)
	for _, kv := range one.Process.Env {
		if root, ok := strings.CutPrefix(kv, "CLAUDE_PLUGIN_ROOT="); ok {
			show = append(show, root)
		}
		if data, ok := strings.CutPrefix(kv, "CLAUDE_PLUGIN_DATA="); ok {
			keep = append(keep, data)
		}
	}
	return s.p.inside.hold(s.p, true, show, keep)
}

// shownTo returns the files that command-line words name by absolute paths, except files with keys.
func (s starter) shownTo(words ...string) (all []string) {
	return slices.DeleteFunc(NamedFiles(words), func(path string) bool {
		return slices.ContainsFunc(s.p.own().Files, func(file string) bool { return texts.Below(path, file) })
	})
}

// NamedFiles returns the files that command-line words name by absolute paths.
func NamedFiles(words []string) (all []string) {
	for _, w := range words {
		w = strings.Trim(w, `"';()`)
		for _, home := range []string{"~/", "$HOME/", "${HOME}/"} {
			if rest, ok := strings.CutPrefix(w, home); ok {
				w = filepath.Join(xdg.Home, rest)
			}
		}
		if info, err := os.Stat(w); err == nil && filepath.IsAbs(w) && info.Mode().IsRegular() {
			all = append(all, filepath.Clean(w))
		}
	}
	return all
}

// startEnv returns the environment of programs that a session starts itself.
func (s starter) startEnv() []string { return []string{"PATH=" + project.ProgramPath(s.p.Config)} }
