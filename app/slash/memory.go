package slash

// Remembered is a line of memory as a list shows it: an entry, or a proposal of one. Its text may be anybody's.
type Remembered struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`  // rule, correction or fact
	Scope    string `json:"scope"` // folder, person or team
	Text     string `json:"text"`
	State    string `json:"state,omitempty"`    // why it does not hold, or what is to be decided; "" where it just holds
	Limits   string `json:"limits,omitempty"`   // the files or the target for which it holds
	Source   string `json:"source,omitempty"`   // who proposes it, of a proposal
	File     string `json:"file,omitempty"`     // that has it, with its line; "" of a proposal
	Note     string `json:"note,omitempty"`     // the comment of its line
	Proposed bool   `json:"proposed,omitempty"` // it holds only once the person accepts it
}

// MemoryList is the memory of a session. Its functions read and write files.
type MemoryList struct {
	// List returns what there is, and in a line what was skipped.
	List func() (all []Remembered, skipped string, err error)
	Do   func(args string) (string, error) // obeys what follows /memory, and returns what there is to say
}

// OnMemory lists what memory has, says where an entry comes from, or changes it.
func (c Catalog) OnMemory(s Frontend, args string) error {
	Inform(s, "/memory", func() (string, error) { return c.Memory.Do(args) }, s.Say)
	return nil
}

// OnRemember writes what the person wants to be remembered.
func (c Catalog) OnRemember(s Frontend, args string) error {
	Inform(s, "/remember", func() (string, error) { return c.Memory.Do("add " + args) }, s.Say)
	return nil
}
