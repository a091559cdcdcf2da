package action

// SeenFile is a file that the model has read or written, with what tells whether it still has that content.
type SeenFile struct {
	Target     string `json:"target"`        // target of the file
	Path       string `json:"path"`          // absolute, symbolic links resolved
	Sum        string `json:"sum,omitempty"` // of the content, the same in every process; empty: the model does not know the content any more
	Bytes      int64  `json:"bytes,omitempty"`
	ModifiedNS int64  `json:"modified_ns,omitempty"` // Unix time in nanoseconds
}
