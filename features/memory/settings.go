package memory

import "buddy/config"

type values struct {
	Enabled bool // false: nothing is read, written or sent
	Observe bool // whether records are kept and rules learned from them
	Limit   int  // bytes that a model gets at a session's start
}

var settings = config.Own(
	"memory", "What buddy remembers from one session to the next (docs/memory.md).", values{Enabled: true, Observe: true, Limit: MaxShare},
	config.Field[values]{
		Name: "enabled", Short: "`true` or `false`",
		Doc: "Whether buddy uses memory. With `false`, it neither reads nor writes memory files.",
		At:  func(v *values) any { return &v.Enabled },
	},
	config.Field[values]{
		Name: "observe", Short: "`true` or `false`",
		Doc: "Whether buddy records tools' output and what you denied, changed or undid, next to the project's sessions, and learns rules " +
			"from these records. `false`: memory has only what you write.",
		At: func(v *values) any { return &v.Observe },
	},
	config.Field[values]{
		Name: "limit", Short: "bytes, 1 to 4096", Most: MaxShare,
		Doc: "How much of the memory a model gets at the start of a session. Entries that do not fit are left out, those with the least evidence first.",
		At:  func(v *values) any { return &v.Limit },
	},
)
