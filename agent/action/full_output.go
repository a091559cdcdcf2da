package action

import "cmp"

// FullOutput names the file that holds a whole output.
type FullOutput struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`             // of the file
	Text    int64  `json:"text,omitempty"`    // bytes that people read of the output; 0: as many
	Missing int64  `json:"missing,omitempty"` // bytes of the output that were not recorded
}

// Shown returns the bytes that people read of the output.
func (f FullOutput) Shown() int64 { return cmp.Or(f.Text, f.Bytes) }
