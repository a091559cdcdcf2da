package confine

// watch does nothing here: each look compares all folders with their earlier state.
type watch struct{}

func newWatch(string) *watch { return nil }

func (*watch) complete() bool { return false }

func (*watch) add(string) bool { return false }

func (*watch) changes() changes {
	return changes{all: true}
}
