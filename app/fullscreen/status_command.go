package fullscreen

import (
	"cmp"
	"os"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/statusline"
	"buddy/app/ui"
	"buddy/config"
	"buddy/extensions/style"
)

// statusCommand returns the command for the status line from the settings.
func statusCommand(c *config.Config) statusline.Command {
	return statusline.Command{Line: c.UI.StatusCommand, Confined: c.UI.StatusSandbox}
}

// newLine returns the runner of the command for the status line, with the command of the settings.
func (w *window) newLine() *statusline.Runner {
	s := w.setup
	dir, _ := os.Getwd() // "" is this process's folder, too
	o := statusline.Options{
		Dir: dir, Style: cmp.Or(s.Config.Agent.Style, style.Default), Transcript: s.Store.File(s.ID), Env: os.Environ(), Hidden: compose.OwnFiles(&s.Config),
		Busy: func(f func()) { w.loop.Busy(f) },
		Show: func(line string, err error) { w.loop.Post(func() { w.showLine(line, err) }) },
	}
	_, o.Withheld = s.Config.Environ(o.Env)
	r := statusline.New(o)
	r.Use(statusCommand(&s.Config))
	return r
}

// showLine shows the end of the status line, and the error of its command. UI goroutine only.
func (w *window) showLine(line string, err error) {
	ui.ShowLine(w.ui, line)
	if err != nil {
		ui.Show(w.ui, event.Warning{Text: "status_command failed: " + err.Error(), Code: "status_command", NextStep: "/statusline shows its input; fix the command, or remove it from [ui] in your settings"})
	}
}
