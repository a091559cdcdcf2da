package compose

import (
	"errors"
	"strings"
)

// TrustedText says what trusting a folder changes, whose settings have keys that need it.
func TrustedText(dir string, keys []string) string {
	if len(keys) == 0 {
		return "trusted " + dir + "; its settings have nothing that needs it"
	}
	return "trusted " + dir + "; its settings apply: " + strings.Join(keys, ", ")
}

// trust remembers the working directory as trusted. It returns what to say when that
// changes nothing, "" when the session has to begin anew for it.
func (s *Setup) trust() (string, error) {
	project := s.Config.Project
	switch {
	case project.Print == "":
		return "", errors.New("there is nothing to trust: the settings of this folder were not read")
	case project.Trusted:
		return "this folder is trusted already", nil
	}
	if err := TrustStore().Trust(project.Dir, project.Print); err != nil {
		return "", err
	}
	if len(project.Ignored) == 0 {
		return TrustedText(project.Dir, nil), nil
	}
	return "", nil
}

// current is the session to go on with: its id, or "" while nothing of it is saved.
func (s *Setup) current() string {
	if s.Stored() {
		return s.ID
	}
	return ""
}
