package action

// SeenFile is a file that the model has read or written, with the data to detect later changes.
type SeenFile struct {
	Target     string `json:"target"`
	Path       string `json:"path"`          // absolute, symbolic links resolved
	Sum        string `json:"sum,omitempty"` // hash of the content, equal in every process; empty: the model does not know the content any more
	Bytes      int64  `json:"bytes,omitempty"`
	ModifiedNS int64  `json:"modified_ns,omitempty"` // Unix time in nanoseconds
}
