package fence

import (
	"slices"

	"buddy/texts"
	"buddy/tmux/pane/confine"
	"buddy/tmux/pane/gitfiles"
)

// closedDir is a folder that no command on Linux can read.
const closedDir = "/run/buddy/closed"

// gitFiles finds the files that the user's git reads. A configuration that commands could have changed makes no file
// readable.
func (c Config) gitFiles() gitfiles.Files {
	s := gitfiles.Search{Env: c.Env, Work: slices.Concat(c.Work, c.Write), Own: c.Hide}
	if c.Cache != "" {
		s.Work = append(s.Work, c.Cache)
	}
	for _, dir := range c.Work {
		s.Git = append(s.Git, confine.Repository(dir, texts.Lookup(c.Env)("HOME"))...)
	}
	return s.Find()
}

// git adds the files that the user's git reads, which are read-only even in the workspace. If git would behave
// differently in the sandbox than outside, it also adds an unreadable folder. A git setting points there, so that git
// fails with the reason.
func (p plan) git(files gitfiles.Files, work []string) {
	for _, path := range slices.Concat(files.Read, files.Worked, files.Hooks) {
		p.add(readable, path)
		_, real := gitfiles.Links(path)
		for _, dir := range work {
			p.fix(dir, real)
		}
	}
	p.addAll(hidden, files.Hide)
	if files.Refused != "" {
		p.put(mount{path: closedDir, kind: closed})
	}
}
