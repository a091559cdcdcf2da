package target

import (
	"buddy/agent/action"
	"buddy/tools/file"
)

// See restores, on every target, what the model of a branch knew of files in an earlier process: from the result of a
// call or, if call is "", from a report of changes.
func (s *Set) See(branch int, call string, files []action.SeenFile) {
	for _, f := range files {
		if r := s.readers[f.Target]; r != nil {
			r.See(branch, call, []action.SeenFile{f})
		}
	}
}

// ForkReader copies what one branch knows of files to another branch, on every target. It omits the files of calls for
// which underWay returns true.
func (s *Set) ForkReader(from, to int, underWay func(call string) bool) {
	for _, r := range s.readers {
		r.ForkReader(from, to, underWay)
	}
}

// Unread drops a branch's knowledge of each file that was last read or written by a call for which by returns true.
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

// newReaders returns what models know of the files on each target: on the first target what first knows, on the others
// nothing yet.
func newReaders(first *Session, others []*Target) map[string]*file.Readers {
	all := map[string]*file.Readers{first.Name: first.Files.Readers()}
	for _, t := range others {
		all[t.Name] = new(file.Readers)
	}
	return all
}
