package target

import (
	"buddy/agent/action"
	"buddy/tools/file"
)

// See restores, on every target, the knowledge of files that the model of a branch had in an earlier process: from the
// result of a call, or with call "" from a report of changes.
func (s *Set) See(branch int, call string, files []action.SeenFile) {
	for _, f := range files {
		if r := s.readers[f.Target]; r != nil {
			r.See(branch, call, []action.SeenFile{f})
		}
	}
}

// ForkReader copies one branch's knowledge of files to another branch, on every target, except for files of calls that
// are under way.
func (s *Set) ForkReader(from, to int, underWay func(call string) bool) {
	for _, r := range s.readers {
		r.ForkReader(from, to, underWay)
	}
}

// Unread drops a branch's knowledge of each file whose last read or write was by a call that the function by accepts.
func (s *Set) Unread(branch int, by func(call string) bool) {
	for _, r := range s.readers {
		r.Unread(branch, by)
	}
}

// EndReader removes the knowledge of a branch.
func (s *Set) EndReader(branch int) {
	for _, r := range s.readers {
		r.EndReader(branch)
	}
}

// newReaders returns the knowledge of files for each target.
func newReaders(first *Session, others []*Target) map[string]*file.Readers {
	all := map[string]*file.Readers{first.Name: first.Files.Readers()}
	for _, t := range others {
		all[t.Name] = new(file.Readers)
	}
	return all
}
