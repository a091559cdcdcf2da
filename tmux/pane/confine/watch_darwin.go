package confine

// watch knows nothing here: each look compares all folders with what they were.
type watch struct{}

func newWatch(string) *watch { return nil }

func (*watch) complete() bool { return false }

func (*watch) add(string) bool { return false }

func (*watch) changes() changes {
	return changes{all: true}
}
