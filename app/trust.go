package app

import (
	"errors"
	"strings"
)

func trustedText(dir string, keys []string) string {
	if len(keys) == 0 {
		return "trusted " + dir + "; its settings have nothing that needs it"
	}
	return "trusted " + dir + "; its settings apply: " + strings.Join(keys, ", ")
}

// trust remembers the working directory as trusted. It returns what to say when that
// changes nothing, "" when the session has to begin anew for it.
func (p *program) trust() (string, error) {
	project := p.config.Project
	switch {
	case project.Print == "":
		return "", errors.New("there is nothing to trust: the settings of this folder were not read")
	case project.Trusted:
		return "this folder is trusted already", nil
	}
	if err := trustStore().Trust(project.Dir, project.Print); err != nil {
		return "", err
	}
	if len(project.Ignored) == 0 {
		return trustedText(project.Dir, nil), nil
	}
	return "", nil
}

// current is the session to go on with: its id, or "" while nothing of it is saved.
func (p *program) current() string {
	if p.journal.stored() != nil {
		return p.id
	}
	return ""
}
