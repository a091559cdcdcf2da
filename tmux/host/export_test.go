package host

// ParseList is for the fuzz target.
var ParseList = parseList

// SSHDir is the directory of the last connection's socket.
func SSHDir(h *Host) string {
	s := h.line.(*ssh)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir.path
}
