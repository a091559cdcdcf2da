//go:build darwin || (linux && (amd64 || arm64))

package fence

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"buddy/tmux/pane/confine"
)

const (
	// lookMax limits the time of a search for secrets in a repository around the workspace.
	lookMax = 2 * time.Second
	// lookAgain is the minimum time between two searches of a repository.
	lookAgain = time.Second
	// secretsMax limits the hidden paths in a repository, because each is a mount, and bwrap accepts 9000 arguments.
	secretsMax = 1000
)

// surrounding is a repository around a workspace folder, with its hidden paths.
type surrounding struct {
	*confine.Around
	root    string
	secrets []string
	looked  time.Time
}

// surroundings returns the repositories around the workspace folders. known are the repositories of an earlier fence.
// The error, which is [ErrImpossible], means that a repository is too large to search.
func surroundings(c Settings, home string, known []*surrounding) (all []*surrounding, err error) {
	work := slices.Concat(c.Work, c.Write)
	for _, dir := range c.Work {
		git := confine.Repository(dir, home)
		if len(git) != 1 {
			continue // the folder is the whole repository
		}
		root := filepath.Dir(git[0])
		if slices.ContainsFunc(all, func(s *surrounding) bool { return s.root == root }) {
			continue
		}
		s := &surrounding{Around: confine.NewAround(root, work), root: root}
		if i := slices.IndexFunc(known, func(k *surrounding) bool { return k.Is(root, work) }); i >= 0 {
			s.Around = known[i].Around
		}
		found, complete := s.Look(lookMax)
		switch {
		case !complete:
			return nil, fmt.Errorf("%w: the repository around the workspace, %q, is too large to be searched for secrets within %v; start buddy in that folder", ErrImpossible, root, lookMax)
		case len(found) > secretsMax:
			return nil, fmt.Errorf("%w: the repository around the workspace, %q, has more than %d files whose names suggest secrets; start buddy in that folder", ErrImpossible, root, secretsMax)
		}
		s.secrets, s.looked = found, time.Now()
		all = append(all, s)
	}
	return all, nil
}

// changed reports whether the repository's secrets have changed, or the repository can't be searched any more.
func (s *surrounding) changed() bool {
	if time.Since(s.looked) < lookAgain {
		return false
	}
	s.looked = time.Now()
	now, complete := s.Look(lookMax)
	return !complete || !slices.Equal(now, s.secrets)
}

// hidden returns the hidden paths, besides the system's secrets.
func (c Config) hidden(around []*surrounding) []string {
	all := slices.Clone(c.Hide)
	for _, s := range around {
		all = append(all, s.secrets...)
	}
	return all
}
