package tools

// Task is work that goes on after the call that began it.
type Task struct {
	Title string          // what it is, in a line
	Pane  string          // where a person sees it, "" if nowhere
	Dir   string          // from which its end is found again by another process
	Done  <-chan struct{} // closed at its end
	End   func() TaskEnd  // how it ended, once Done is closed
	Stop  func()          // begins to end it
}

// TaskEnd is how a Task ended.
type TaskEnd struct {
	ExitCode  int
	Cancelled bool
	Err       error  // its end is not known
	Tail      string // the end of its output, at most 4000 bytes; untrusted text
}
