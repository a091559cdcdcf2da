package shell

import "strings"

// CheckPrograms returns what is wrong with the table of programs.
func CheckPrograms() []string {
	var wrong []string
	seen := make(map[string]bool)
	for _, p := range programs {
		if p.why == "" {
			wrong = append(wrong, p.name+" has no reason")
		}
		for _, name := range append(strings.Fields(p.also), p.name) {
			if seen[name] {
				wrong = append(wrong, name+" stands twice")
			}
			seen[name] = true
		}
		for pair := range strings.SplitSeq(p.same, ", ") {
			if p.same != "" && !strings.Contains(pair, "=") {
				wrong = append(wrong, p.name+": "+pair+" is no pair")
			}
		}
	}
	return wrong
}
