package tools

// Task is a command or other work that keeps running after the call that started it.
type Task struct {
	Title string          // a one-line description
	Pane  string          // the pane that shows it, "" for none
	Dir   string          // the folder from which another process can recover its outcome
	Done  <-chan struct{} // closed when it has ended
	End   func() TaskEnd  // returns the outcome; call it once Done is closed
	Stop  func()          // starts to end the task
}

// Releasable is a Tool whose running calls can be sent to the background: a call returns when [Call.Release] is closed,
// and its work keeps running as a Task.
type Releasable interface {
	Releases(call Call) bool
}

// IsReleasable reports whether a call can be sent to the background while it runs.
func IsReleasable(t Tool, call Call) bool {
	r, ok := t.(Releasable)
	return ok && r.Releases(call)
}

// TaskEnd is the outcome of a Task.
type TaskEnd struct {
	ExitCode  int
	Cancelled bool
	Err       error  // why the outcome is unknown
	Tail      string // the end of its output, at most 4000 bytes; untrusted text
}
