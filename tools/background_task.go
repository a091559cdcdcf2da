package tools

// Task is work that goes on after the call that started it.
type Task struct {
	Title string          // a one-line description
	Pane  string          // the pane that shows it, "" for none
	Dir   string          // the folder from which another process can recover its outcome
	Done  <-chan struct{} // closed when it has ended
	End   func() TaskEnd  // returns the outcome; call it once Done is closed
	Stop  func()          // starts to end it
}

// TaskEnd is the outcome of a Task.
type TaskEnd struct {
	ExitCode  int
	Cancelled bool
	Err       error  // why the outcome is unknown
	Tail      string // the end of its output, at most 4000 bytes; untrusted text
}
