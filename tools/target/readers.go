package target

// ForkReader lets the model of a branch know the files that that of another one has read, on every
// target, but for those of calls that are under way.
func (s *Set) ForkReader(from, to int, underWay func(call string) bool) {
	for _, one := range s.Sessions() {
		one.Files.Readers().ForkReader(from, to, underWay)
	}
}

// Unread lets the model of a branch no longer know the files that these calls have read or written last.
func (s *Set) Unread(branch int, by func(call string) bool) {
	for _, one := range s.Sessions() {
		one.Files.Readers().Unread(branch, by)
	}
}

// EndReader forgets what the model of a branch has read.
func (s *Set) EndReader(branch int) {
	for _, one := range s.Sessions() {
		one.Files.Readers().EndReader(branch)
	}
}
