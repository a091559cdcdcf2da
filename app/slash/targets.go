package slash

// ThisMachine is the name of the target that is this machine.
const ThisMachine = "local"

// PlaceName returns the name of a target for use in a sentence.
func PlaceName(target string) string {
	if target == ThisMachine {
		return "this machine"
	}
	return target
}
