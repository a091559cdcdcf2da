package inject

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"buddy/texts"
)

// rule matches a phrase. Matching is tried only at words that may start the phrase, so that ordinary text is scanned
// fast.
type rule struct {
	words    string  // possible first words of the phrase
	phrase   pattern // matches plain text from the first word on
	kind     Kind
	severity Severity
	reason   string
	starts   bool     // only at the start of a line or sentence
	encoded  bool     // high next to a long encoded text, even if quoted
	needs    []string // a prefilter: every match contains one of them
	wide     bool     // allows any text between its words; not retried within apart bytes
	next     string   // a prefilter: the possible first two letters of the second word, separated by bars
	claim    bool     // a statement: does not match after "if" or "when"
}

// apart is the minimal distance, in bytes, between two attempts to match a wide phrase, which allows any text between
// its words: one attempt already covers the text after it.
const apart = 100

// reach is the maximal length of a phrase, in bytes after its first word.
const reach = 200

// pattern returns a regular expression, which it compiles at first use: most are never used, and compiling all of them
// would take 10 ms and 2 MB at each start of the program.
type pattern func() *regexp.Regexp

// phrase returns the pattern of a phrase, with its letters folded like those of the text.
func phrase(s string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + foldAll(s) + `)`) })
}

// Parts of phrases.
const (
	ofAgent = `(?:previous|prior|preceding|earlier|above|former|past|existing|current|initial|original|system|safety|developer|your)`
	filler  = `(?:(?:all|any|every|of|the|these|those|my|our|other|and|or|given) )*`
	readers = `(?:(?:ai|llm|coding|language|automated|autonomous|the|any|all) )*(?:ai|agents?|assistants?|models?|llms?|claude|chatgpt|gpt|copilot|cursor|codex|gemini|buddy)`
	must    = `(?:must|should|shall|need to|have to|are required to|are instructed to|please|will)`
	runs    = `(?:run|execute|curl|wget|download|install|send|fetch|visit|open|delete|remove|upload|post|call|invoke|use|write|print|reveal|output)\b`
	person  = `(?:users?|humans?|operators?|developers?|owners?|anyone|person)\b`
	secret  = `(?:api keys?|access keys?|secrets?|credentials?|passwords?|tokens?|environment variables?|env vars?|private keys?|ssh keys?|\.env\b|id_rsa|system prompt|conversation|chat history|file contents?|contents? of)`
	away    = `(?:https?://|www\.|webhook|url\b|server\b|endpoint\b|e-?mail|(?:[a-z0-9-]+\.)+(?:com|net|io|dev|xyz|ru|cn|org|example)\b)`
)

// table holds the rules for phrases in English.
var table = []rule{
	{
		words: "ignore disregard forget override bypass", kind: Override, severity: High, reason: "tells the agent to ignore its instructions",
		phrase: phrase(`[a-z]+ ` + filler + ofAgent + ` (?:` + ofAgent + ` |` + filler + `)*(?:instructions?|prompts?|directions|directives?|guidelines|programming|training)\b`),
	},
	{
		words: "ignore disregard forget override bypass", kind: Override, severity: High, reason: "tells the agent to ignore its rules",
		phrase: phrase(`[a-z]+ ` + filler + `your (?:[a-z]+ )?(?:rules|restrictions|policies|policy|safety|safeguards|constraints|limits)\b`),
	},
	{
		words: "forget ignore disregard", kind: Override, severity: High, reason: "tells the agent to forget its instructions",
		phrase: phrase(`[a-z]+ (?:everything|all|anything) (?:that )?(?:(?:is |was |written |said )*above|(?:is |was |written |said )+(?:before|earlier|previously)|before this|you (?:were|have been|are|had been) (?:told|given|instructed|asked)|you know)`),
	},
	{
		words: "ignore disregard forget override", kind: Override, severity: Low, reason: "tells the agent to ignore earlier messages",
		phrase: phrase(`[a-z]+ (?:all|any|the|these|previous|prior|above) (?:[a-z]+ ){0,2}(?:instructions?|prompts?|rules|messages|context|constraints|directives)\b`),
	},
	{
		words: "do dont never stop", kind: Override, severity: High, reason: "tells the agent not to follow its instructions",
		phrase: phrase(`(?:do not|dont|never|stop) (?:follow|following|obey|obeying) (?:` + filler + `)` + ofAgent + ` (?:[a-z]+ ){0,2}(?:instructions?|prompts?|rules|guidelines|directives)`),
	},
	{
		words: "new updated revised your", kind: Override, severity: Low, reason: "gives the agent new instructions",
		phrase: phrase(`(?:your )?(?:new|updated|revised|real|actual|only) (?:system )?(?:instructions?|task|goal|objective|directives?|orders|prompt)(?: (?:is|are|for you|for the (?:assistant|agent|ai)|from (?:the )?(?:user|developer|system|admin\w*|operator))\b| ?:)`),
	},
	{
		words: "you", kind: Role, severity: High, reason: "tells the agent that its limits are gone",
		phrase: phrase(`you are (?:now )?(?:(?:an? )?(?:unrestricted|jailbroken|uncensored|unfiltered)\b|dan\b|in (?:developer|god|dan|debug|admin|maintenance|override|unrestricted) mode|no longer (?:bound|restricted|limited|an ai|required))`),
	},
	{
		words: "you", kind: Role, severity: Low, reason: "gives the agent another role",
		phrase: phrase(`you are now (?:an?|my|the) (?:[a-z]+ ){0,3}(?:assistant|agent|ai|bot|model|hacker|expert|administrator|root)\b`),
	},
	{
		words: "system developer assistant human admin", kind: Role, severity: Low, reason: "pretends to be a system message", starts: true,
		phrase: phrase(`[a-z]+(?: (?:prompt|message|note|override|instructions?|notice))? ?(?:\]|\))? ?: ?(?:you |ignore|disregard|new |please |important|the user|from now|override|do not|dont|never|always|your )|(?:system|admin|developer|security) (?:prompt )?override\b`),
	},
	{
		words: "this", kind: Role, severity: Low, reason: "claims to come from someone who may instruct the agent",
		phrase: phrase(`this (?:is a message|message (?:is|comes)|is an? (?:urgent |authorized |official )?(?:instruction|order|request|command)|comes|instruction is) from (?:the |your )?(?:user|developers?|system|administrator|operator|anthropic|openai|google|security team)`),
	},
	{
		words: "end", kind: Role, severity: Low, reason: "claims that the data has ended", starts: true,
		phrase: phrase(`end of (?:the )?(?:tool|untrusted|user|external|web|file|document) (?:output|result|content|data|input|context)`),
	},
	{
		words: "ai agent agents assistant assistants llm llms model models claude chatgpt gpt copilot cursor codex gemini buddy coding language automated autonomous attention",
		kind:  Command, severity: Low, reason: "tells agents what to run",
		phrase: phrase(`(?:attention )?` + readers + `(?: (?:reading|processing|summari[sz]ing|analy[sz]ing|viewing|seeing) [a-z]+(?: [a-z]+)?)? ?[,:]? ?(?:you )?` + must + ` (?:[a-z]+ ){0,3}?` + runs),
	},
	{
		words: "if when", kind: Command, severity: Low, reason: "addresses AI agents",
		phrase: phrase(`(?:if|when) (?:you are|youre) (?:an? |the )?(?:ai|llm|large language model|language model|coding agent|coding assistant|automated agent)\b`),
	},
	{
		words: "your", kind: Override, severity: High, reason: "gives the agent new instructions",
		phrase: phrase(`your (?:system )?(?:instructions?|prompt|rules|guidelines|task|orders) (?:have|has|were|was|are|is)(?: been| now)* (?:changed|updated|replaced|revoked|overridden|void|obsolete|cancel+ed|suspended)`),
	},
	{
		words: "reset clear wipe erase", kind: Override, severity: High, reason: "tells the agent to forget its instructions",
		phrase: phrase(`[a-z]+ your (?:current |entire |whole )?(?:context|memory|instructions|prompt|conversation|guidelines)\b`),
	},
	{
		words: "obey follow comply do", kind: Override, severity: High, reason: "puts itself above the user",
		phrase: phrase(`(?:obey|follow|comply with|do(?: only)?) (?:only )?(?:(?:what|as) )?(?:this|the following|these) (?:document|page|file|text|message|instructions?|rules|orders)?s? ?(?:says?,? )?(?:over|instead of|rather than|(?:and )?not|above) (?:as |what |anything )?(?:the user|your|what you)`),
	},
	{
		words: "as", kind: Command, severity: Low, reason: "addresses AI agents",
		next:   "|an|a |th|ai|my|yo|",
		phrase: phrase(`as (?:an? |the |my |your )?(?:(?:ai|language|coding|llm) ?)+(?:assistant|agent|model)?,? you (?:must|should|will|have to|are required|need to|can|may)\b`),
	},
	{
		words: "assistant claude chatgpt gpt copilot codex gemini cursor dear", kind: Command, severity: Low, reason: "addresses AI agents", starts: true,
		phrase: phrase(`(?:[a-z]+, ?(?:please |now |you must |do not )*(?:run|add|delete|open|execute|send|write|ignore|approve|install|push|commit|merge|read|print|call|fetch|upload|remove|disable|output)\b|dear (?:ai|assistant|agent|model|llm|claude|chatgpt|copilot)s?\b)`),
	},
	{
		words: "hide conceal withhold keep", kind: Secrecy, severity: Low, reason: "tells the agent to hide something from the user", starts: true,
		phrase: phrase(`[a-z]+ (?:this|these|it|that|your|all|any|everything|the (?:output|step|command|change|result|fact|action)s?)(?: [a-z]+){0,3}? from (?:the )?` + person),
	},
	{
		words: "tell assure inform report", kind: Secrecy, severity: Low, reason: "tells the agent to deceive the user",
		next:   "|th|al|us|to|ev|",
		phrase: phrase(`[a-z]+ (?:to )?(?:the |all )?(?:users? |humans? )?(?:that )?[^.]*?(?:even (?:if|though)|regardless of whether|no matter) (?:it|they|that|what|the|some|not)`),
		needs:  []string{"even if", "even though", "regardless", "no matter"},
	},
	{
		words: "ignore disregard forget skip", kind: Override, severity: High, reason: "tells the agent to ignore the user's wishes",
		phrase: phrase(`[a-z]+ (?:(?:the |your )?(?:users?|humans?|operators?) (?:request|question|task|instructions?|query|wishes|prompt|orders?|original [a-z]+)\b|what(?:ever)? (?:the (?:user|human) (?:said|asked|wants|told|requested)|you were (?:asked|told)))`),
	},
	{
		words: "attention ai llm coding", kind: Command, severity: Low, reason: "addresses AI agents", starts: true,
		phrase: phrase(`(?:attention,? )?(?:all |any )?(?:(?:ai|llm|coding|language) ?)*(?:agents?|assistants?|models?|llms?|ai) ?: ?(?:please |you |when |if |always |never |do |run |set |call |ignore |first |before )`),
	},
	{
		words: "as", kind: Role, severity: Low, reason: "claims to come from someone who may instruct the agent",
		phrase: phrase(`as (?:the|your) (?:administrator|admin|developer|operator|owner|user|system),? i (?:hereby )?(?:authori[sz]e|allow|permit|order|instruct|command)`),
	},
	{
		words: "important attention note", kind: Command, severity: Low, reason: "addresses AI agents",
		phrase: phrase(`(?:important|attention|note)[ !:,-]*(?:instructions?|message|notice|note)? ?(?:for|to) ` + readers + `\b`),
	},
	{
		words: "you", kind: Command, severity: High, reason: "tells the agent to do something in secret",
		phrase: phrase(`you ` + must + ` (?:now |then )?(?:silently|secretly|covertly|quietly) (?:[a-z]+ ){0,2}?` + runs),
	},
	{
		words: "you", kind: Command, severity: Low, reason: "tells the agent to run something",
		phrase: phrase(`you ` + must + ` (?:now|immediately|first|at once) (?:[a-z]+ ){0,2}?` + runs),
	},
	{
		words: "run execute call invoke", kind: Command, severity: Low, reason: "tells the agent to run something without asking",
		wide:   true,
		phrase: phrase(`[a-z]+ [^.]*?(?:without (?:asking|telling|informing|notifying|confirmation|confirming|approval|permission)|before (?:you (?:answer|continue|respond|reply)|answering|responding|doing anything))`),
	},
	{
		words: "do dont never without avoid", kind: Secrecy, severity: High, reason: "tells the agent to hide instructions from the user",
		wide:   true,
		phrase: phrase(`(?:do not|dont|never) (?:mention|reveal|disclose|tell|inform|report|show) [^.]*?(?:this|these|the above) (?:instructions?|message|prompt|request|command|step)\b`),
	},
	{
		words: "do dont never without avoid", kind: Secrecy, severity: Low, reason: "tells the agent to hide something from the user",
		phrase: phrase(`(?:do not|dont|never|without|avoid) (?:tell|inform|notify|alert|mention|reveal|show|report|disclos|ask|lett?)(?:ing|ling|e|ying)? (?:[a-z]+ ){0,4}?` + person),
	},
	{
		words: "must should shall", kind: Secrecy, severity: Low, reason: "tells the agent to hide something from the user",
		next:   "|no|ne|",
		phrase: phrase(`[a-z]+ (?:not|never) (?:tell|inform|notify|alert|mention|reveal) (?:[a-z]+ ){0,4}?` + person),
	},
	{
		words: "send post upload forward email exfiltrate transmit leak submit append", kind: Exfil, severity: Low, reason: "tells the agent to send secrets away",
		needs:  []string{"key", "secret", "credential", "password", "token", "variable", "env", "id_rsa", "prompt", "conversation", "history", "content"},
		wide:   true,
		phrase: phrase(`[a-z]+ [^.]*?` + secret + ` [^.]*?(?:to|at|via)\b[^.]*?` + away),
	},
	{
		words: "curl wget nc ncat", kind: Exfil, severity: High, reason: "a command that sends keys away",
		wide:   true,
		phrase: phrase(`[a-z]+ [^;]*?(?:/\.ssh/id_[a-z0-9]+(?:[^.a-z0-9]|$)|/\.aws/credentials|/\.netrc|/etc/shadow)`),
	},
	{
		words: "http https", kind: Exfil, severity: Low, reason: "a link with a placeholder for your data",
		wide:   true,
		phrase: phrase(`https?://[^ )\]]+?[?=/&](?:\{\{?|<|\[|\$\{?|%7b)(?:base64|conversation|chat|history|context|prompt|system_?prompt|secrets?|env|file_?contents?|data|summary|response|answer|stolen|api_?keys?|passwords?|tokens?|credentials?|user_?data)`),
	},
	{
		words: "pay stop disregard abandon cancel drop", kind: Override, severity: High, reason: "tells the agent to give up its task",
		phrase: phrase(`pay no (?:attention|heed) to (?:` + filler + `)` + ofAgent + ` (?:[a-z]+ ){0,2}(?:instructions?|prompts?|rules|guidelines|messages?)|(?:stop|abandon|cancel|drop|disregard) (?:what(?:ever)? you (?:are|were) (?:currently )?(?:doing|asked|told)|(?:your|the) (?:current|original|previous|assigned) (?:task|goal|objective|work)\b)`),
	},
	{
		words: "instead rather", kind: Override, severity: Low, reason: "gives the agent another task",
		phrase: phrase(`(?:instead|rather)(?: of| than) (?:(?:doing|answering|following|completing) )?(?:what you were (?:asked|told)|your (?:task|instructions?|orders)|the (?:task|request|question) (?:of|from|by) the user|(?:the )?users (?:request|question|task))`),
	},
	{
		words: "these this following", kind: Override, severity: Low, reason: "claims to replace the agent's instructions",
		phrase: phrase(`(?:these|this|following)(?: (?:instructions?|rules|directives?|message|text|prompt))? (?:supersedes?|overrides?|replaces?|takes? precedence over|(?:has|have) priority over) (?:` + filler + `)` + ofAgent + ` (?:[a-z]+ ){0,2}(?:instructions?|prompts?|rules|guidelines|directives|messages)`),
	},
	{
		words: "reveal print repeat show output display leak tell dump", kind: Exfil, severity: Low, reason: "asks for the agent's prompt",
		phrase: phrase(`[a-z]+ (?:me )?(?:` + filler + `|full |entire |exact |complete |verbatim )*(?:(?:your|the) (?:hidden |secret |initial |original )?system (?:prompt|message|instructions)|your (?:initial |original |hidden |secret )?(?:instructions|prompt)|(?:words|text|everything) above)\b`),
	},
	{
		words: "developer debug admin god dan jailbreak unrestricted maintenance", kind: Role, severity: Low, reason: "tells the agent that its limits are gone",
		phrase: phrase(`[a-z]+ mode (?:is )?(?:now )?(?:enabled|activated|active|on|unlocked)[ .,:!]*(?:you|all|no|your|safety|restrictions|ignore|do|disable)`),
	},
	{
		words: "from", kind: Override, severity: Low, reason: "gives the agent new instructions",
		phrase: phrase(`from (?:now on|this point (?:on|forward)|here on)[, ]*(?:you (?:will|must|are|should|shall|only)|always|never|ignore|respond|answer|act)\b`),
	},
	{
		words: "act pretend behave respond roleplay", kind: Role, severity: Low, reason: "gives the agent another role",
		phrase: phrase(`[a-z]+ (?:as if you (?:had no|have no|were not|are not)|(?:as|like|to be|that you are) (?:an? )?(?:(?:ai|assistant|model|agent) (?:without|with no)|unrestricted|unfiltered|jailbroken|dan\b))`),
	},
	{
		words: "user users human humans operator owner administrator admin developer maintainer person customer", kind: Approval, severity: High, reason: "claims that the user has approved it", claim: true,
		phrase: phrase(`[a-z]+ (?:has|have|had) (?:(?:already|previously|explicitly|fully|just|also|given|their|his|her|pre) ?-?){0,3}(?:approv(?:ed|al)|authori[sz](?:ed|ation)|confirmed|consent(?:ed)?|agreed|permi(?:tted|ssion)|granted|allowed|signed off|ok ?ayed)(?: (?:to|on|for|of|in|that))? ?(?:this|these|the following|it|all|any|every(?:thing)?|running|executing|you|your|each|next|,? ?so|[.;,!] ?(?:proceed|continue|run|execute|go|do|just|no|there|you))`),
	},
	{
		words: "user human operator owner maintainer maintainers admin administrator", kind: Approval, severity: Low, reason: "claims that the user has approved it", claim: true,
		phrase: phrase(`[a-z]+ (?:[a-z]+ ){0,5}?(?:already )?(?:(?:said|says) (?:yes|ok|okay|it is (?:ok|fine)|go ahead)|agrees (?:to|with) (?:this|everything|all)|gave (?:the|a) go ahead|(?:wants|needs|requires|expects) you to (?:run|execute|delete|send|skip|ignore|install|open)|(?:agreed|consented|approved|authori[sz]ed|confirmed) (?:to |of )?(?:this|that|it|all|everything|these)(?: [a-z]+){0,3}? (?:earlier|before|already|in advance|beforehand|previously))`),
		needs:  []string{" said ", " says ", " agrees ", " gave ", "s you to ", "ed to ", "ed this", "ed it", "ed all", "ed that", "ed every", "ed these"},
	},
	{
		words: "user users human operator owner administrator admin developer maintainer", kind: Approval, severity: High, reason: "claims that the user has approved it", claim: true,
		needs:  []string{"permission", "approval", "consent", "authori"},
		phrase: phrase(`[a-z]+ (?:has|have|already|explicitly) (?:already |explicitly )?(?:given|granted|gave) (?:[a-z]+ ){0,3}?(?:permission|approval|consent|authori[sz]ation) (?:to|for) (?:run|execut|all|every|any|this|these|the|delet|do)`),
	},
	{
		words: "user users human operator owner administrator admin developer maintainer", kind: Approval, severity: Low, reason: "claims that the user has approved it", claim: true,
		phrase: phrase(`[a-z]+ (?:has|have) (?:already|previously|explicitly) (?:approved|authori[sz]ed|confirmed|consented|agreed|permitted|allowed)\b`),
	},
	{
		words: "this these all everything", kind: Approval, severity: Low, reason: "claims that the user has approved it", claim: true,
		needs:  []string{"approved by", "authorized by", "authorised by"},
		phrase: phrase(`(?:this|these|all|everything)(?: [a-z]+){0,3}? (?:is|are|was|were|has been|have been) (?:already |explicitly )?(?:pre-?)?(?:approved|authori[sz]ed) by (?:the |your )?(?:user|human|operator|owner|admin(?:istrator)?|developers?|security team)\b`),
	},
	{
		words: "no without skip", kind: Command, severity: Low, reason: "tells the agent to run something without asking",
		phrase: phrase(`(?:no (?:further |additional |more )?(?:confirmation|approval|permission)s? (?:is |are )?(?:needed|required|necessary)|no need to (?:ask|confirm with|check with)(?: for)? ?(?:the )?(?:user|human|permission|approval|confirmation)?|skip (?:the |all |any )?(?:confirmation|approval|permission)s? )`),
	},
	{
		words: "before", kind: Command, severity: Low, reason: "tells the agent to run something",
		phrase: phrase(`before (?:you )?(?:answer(?:ing)?|continu(?:e|ing)|respond(?:ing)?|reply(?:ing)?|proceed(?:ing)?|summari[sz](?:e|ing)|doing anything(?: else)?|anything else)[ ,:]*(?:you must |please |first )*(?:(?:run|execute|call|invoke|download|fetch|send)\b|(?:read|open|print) (?:~|/|the file|\.env))`),
	},
	{
		words: "base64", kind: Payload, severity: Low, reason: "encoded text that is decoded and run", encoded: true,
		wide:   true,
		phrase: phrase(`base64 (?:-d|-di|-id|--decode)\b[^|]*?\| ?(?:sudo )?(?:[a-z/]*/)?(?:ba|z|da|k)?sh\b|base64 (?:-d|--decode)\b[^|]*?\| ?(?:python3?|perl|node)\b`),
	},
	{
		words: "eval exec", kind: Payload, severity: Low, reason: "encoded text that is decoded and run", encoded: true,
		wide:   true,
		phrase: phrase(`(?:eval|exec)[ (]+(?:atob|buffer\.from|base64|__import__[^;]*?b64decode|codecs\.decode|compile ?\(base64|bytes\.fromhex)`),
	},
	{
		words: "powershell pwsh", kind: Payload, severity: Low, reason: "encoded text that is decoded and run", encoded: true,
		wide:   true,
		phrase: phrase(`[a-z]+(?:\.exe)? [^|;]*?-e(?:nc|ncodedcommand)? [a-z0-9+/=]{40}`),
	},
}

// spelledOut matches an order that was spelled letter by letter, after the spaces were removed.
var spelledOut = texts.Regexp(`(?:ignore|disregard|forget|override|bypass)[a-z]*?(?:instructions?|prompts?|rules|guidelines|directives|above|told)`)

// rules returns the rules of all languages by the possible first words of their phrases.
var rules = sync.OnceValue(func() map[string][]*rule {
	return byWord(table, german, french, spanish, russian, chinese)
})

func byWord(tables ...[]rule) map[string][]*rule {
	all := make(map[string][]*rule)
	for _, table := range tables {
		for i := range table {
			for w := range strings.FieldsSeq(foldAll(table[i].words)) {
				if !slices.Contains(all[w], &table[i]) { // two words may fold to one
					all[w] = append(all[w], &table[i])
				}
			}
		}
	}
	return all
}

// find matches the rule's phrase at word i.
func (r *rule) find(p *plainText, i int) (Finding, bool) {
	w := p.words[i]
	text := p.text[w.from:min(len(p.text), w.from+reach)]
	if !r.worth(p, i, text) {
		return Finding{}, false
	}
	loc := r.phrase().FindIndex(text)
	if loc == nil {
		return Finding{}, false
	}
	f := Finding{Kind: r.kind, Severity: r.severity, Reason: r.reason, Excerpt: excerpt(p.between(i, w.from+loc[1])), at: w.from}
	f.quoted = p.quoted(w.from) || !r.encoded && !p.commands(i) && r.kind != Exfil && r.kind != Secrecy || conditional(text[loc[1]:])
	switch {
	case r.encoded && p.encodedNear(w.from):
		f.Severity = High
	case f.quoted:
		f.Severity = Low
	case f.Kind.instructs() && p.unseenByPeople(w.from):
		f.Severity, f.Reason = High, f.Reason+", where people don't see it"
	}
	return f, true
}

// worth cheaply tests whether the phrase can match at word i; text starts there.
func (r *rule) worth(p *plainText, i int, text []byte) bool {
	w := p.words[i]
	if r.starts && !w.begins || r.claim && p.behindIf(i) {
		return false
	}
	if n := w.to - w.from; r.next != "" && (len(text) < n+3 || !strings.Contains(r.next, string(text[n+1:n+3]))) {
		return false
	}
	if r.wide {
		if at, tried := p.tried[r]; tried && w.from-at < apart {
			return false
		}
		p.tried[r] = w.from
	}
	return r.needs == nil || slices.ContainsFunc(r.needs, func(n string) bool { return bytes.Contains(text, []byte(n)) })
}

// commands reports whether a sentence or an order starts at word i. Otherwise, a phrase there is probably only
// mentioned.
func (p *plainText) commands(i int) bool {
	if p.words[i].begins || i == 0 {
		return true
	}
	switch before := p.at(p.words[i-1]); {
	case commanding[before]:
		return true
	case articles[before]:
		return p.words[i-1].begins || i > 1 && commanding[p.at(p.words[i-2])]
	}
	return false
}

// Words in all languages: commanding ones precede an order, articles a noun, and ifs a condition.
var (
	commanding = wordSet(`please now then must should shall immediately kindly instead next also important attention dear hey hello so ai note and
		bitte jetzt nun sofort unbedingt wichtig und
		maintenant plait immediatement veuillez important et tu vous
		favor ahora inmediatamente importante y debes debe
		пожалуйста теперь сейчас немедленно внимание важно и должен`)
	articles = wordSet("the this an a der die das dieser diese ein eine le la les cet ce el los las este esta un una")
	ifs      = wordSet(`if when whether once after unless until that because since before wenn falls sobald ob nachdem dass weil
		si quand lorsque apres que cuando despues hasta если когда после что`)
)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(foldAll(words)) {
		set[w] = true
	}
	return set
}

// behindIf reports whether a condition starts one or two words before word i.
func (p *plainText) behindIf(i int) bool {
	for back := 1; back <= 2 && i-back >= 0; back++ {
		if p.words[i-back+1].begins {
			return false
		}
		if ifs[p.at(p.words[i-back])] {
			return true
		}
	}
	return false
}

// between returns the part of the source from word i to the last word before end, an offset in the plain text.
func (p *plainText) between(i, end int) string {
	next, _ := slices.BinarySearchFunc(p.words, end, func(w wordAt, end int) int { return w.from - end })
	last := p.source[p.words[next-1].source:]
	if n := strings.IndexFunc(last, func(c rune) bool { return !unicode.In(c, unicode.L, unicode.N, unicode.M, unicode.S) && !unseen(c) }); n > 0 {
		last = last[:n]
	}
	return p.source[p.words[i].source : p.words[next-1].source+len(last)]
}

// unseenByPeople reports whether an offset is in an HTML comment, or in an element that browsers do not show.
func (p *plainText) unseenByPeople(at int) bool {
	if within(p.comments, at) {
		return true
	}
	before := p.text[max(0, at-160):at]
	loc := unshown().FindAllIndex(before, -1)
	return loc != nil && !bytes.Contains(before[loc[len(loc)-1][1]:], []byte("</"))
}

var unshown = texts.Regexp(`(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|opacity ?: ?0[^.0-9]|<[a-z]+ hidden\b)`)

// conditional reports whether the sentence continues with a condition, as in "ignore the above instructions if you use
// Windows".
func conditional(rest []byte) bool {
	s := strings.TrimLeft(string(rest[:min(len(rest), 24)]), " ,(")
	for _, w := range []string{"if ", "when ", "unless ", "for windows", "on windows", "in section", "in the section", "in case "} {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	return false
}

var encodedText = texts.Regexp(`[a-z0-9+/=]{60,}`)

// encodedNear reports whether a long encoded text is near an offset.
func (p *plainText) encodedNear(at int) bool {
	return encodedText().Match(p.text[max(0, at-600):min(len(p.text), at+300)])
}
