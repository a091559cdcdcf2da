package slash

// TargetList offers the targets on which commands may run.
type TargetList struct {
	Describe func() (string, error)        // where they run now; may take long
	Offers   func() ([]TargetOffer, error) // that may be switched to
}

// TargetOffer is a target to choose from, with what is known of it without asking it.
type TargetOffer struct {
	Name       string
	Kind       string // this machine, ssh or container
	Address    string // "" is this machine
	Folder     string // where commands start, "" is not known yet
	Attach     string // the line that attaches a terminal to its pane, "" while there is none
	Current    bool
	Production bool
	State      TargetState
	Ask        func() TargetState // asks for a sign of life, which may take long; nil: nothing is connected
}

// TargetState says whether a target can be reached.
type TargetState struct {
	Text string
	Why  string // it cannot, "" otherwise
}

// Only says of the one target that there is how it is and how to watch it.
func (o TargetOffer) Only() string {
	text := "commands run on " + PlaceName(o.Name) + ", the only target"
	if o.Folder != "" {
		text += ", in " + o.Folder
	}
	if o.Ask != nil {
		text += " · " + o.Ask().Text
	}
	if o.Attach != "" {
		return text + " · attach: " + o.Attach
	}
	return text + " · [targets.NAME] in your settings adds others"
}

// ThisMachine is the name of the target that is this machine.
const ThisMachine = "local"

// PlaceName returns the name of a target in a sentence.
func PlaceName(target string) string {
	if target == ThisMachine {
		return "this machine"
	}
	return target
}
