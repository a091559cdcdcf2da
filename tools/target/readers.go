package target

import (
	"buddy/agent/action"
	"buddy/tools/file"
)

// See lets the model of a branch know files that it has read or written in an earlier process, on every target: with
// the result of a call, or for "" because it was told what had changed in them.
func (s *Set) See(branch int, call string, files []action.SeenFile) {
	for _, f := range files {
		if r := s.readers[f.Target]; r != nil {
			r.See(branch, call, []action.SeenFile{f})
		}
	}
}

// ForkReader lets the model of a branch know the files that that of another one has read, on every
// target, but for those of calls that are under way.
func (s *Set) ForkReader(from, to int, underWay func(call string) bool) {
	for _, r := range s.readers {
		r.ForkReader(from, to, underWay)
	}
}

// Unread lets the model of a branch no longer know the files that these calls have read or written last.
func (s *Set) Unread(branch int, by func(call string) bool) {
	for _, r := range s.readers {
		r.Unread(branch, by)
	}
}

// EndReader forgets what the model of a branch has read.
func (s *Set) EndReader(branch int) {
	for _, r := range s.readers {
		r.EndReader(branch)
	}
}

// newReaders returns what is known of the files of each target.
func newReaders(first *Session, others []*Target) map[string]*file.Readers {
	all := map[string]*file.Readers{first.Name: first.Files.Readers()}
	for _, t := range others {
		all[t.Name] = new(file.Readers)
	}
	return all
}
