package shell

import "slices"

// wrapFind judges the commands that find runs, and then find itself.
func wrapFind(a *analyser, words []arg, via []string, _ input) bool {
	via = append(slices.Clone(via), "find -exec")
	for i := 1; i < len(words); i++ {
		switch s, _ := words[i].lit(); s {
		case "-ok", "-okdir":
			a.rep.other("find " + s + " asks the terminal")
			fallthrough
		case "-exec", "-execdir":
			i += a.findExec(words[i+1:], via)
		}
	}
	return false
}

// findExec judges the command of -exec and returns the number of its words.
func (a *analyser) findExec(words []arg, via []string) int {
	for i, w := range words {
		s, _ := w.lit()
		if s != ";" && (s != "+" || i == 0 || words[i-1].src != "{}") {
			continue
		}
		if i == 0 {
			break
		}
		a.command(replace(words[:i], "{}", arg{vals: []val{{kind: dynamic}}, src: "{}"}), via, input{})
		return i
	}
	a.rep.other("find -exec without an end")
	return 0
}
