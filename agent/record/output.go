package record

import "buddy/agent/event"

const (
	keptOutput = 64 << 10 // bytes of the output of a running call
	keptPieces = 4096     // pieces that those bytes are known to consist of
)

// output is the end of what a running call has printed.
type output struct {
	text   []byte
	start  int64 // of text in all that was printed
	pieces []piece
}

// piece is the part of an output that one event reported.
type piece struct {
	end   int64          // of it in all that was printed
	event event.Envelope // whose payload has no text
}

func (o *output) add(env event.Envelope, p event.ToolOutput) {
	o.text = append(o.text, p.Text...)
	p.Text = ""
	env.Payload = p
	o.pieces = append(o.pieces, piece{o.start + int64(len(o.text)), env})
	if len(o.text) > 2*keptOutput || len(o.pieces) > 2*keptPieces {
		o.trim()
	}
}

// trim forgets the beginning. It is called once for every half of what is kept, so that a piece
// costs the same however much was printed.
func (o *output) trim() {
	keep := o.start + int64(len(o.text)-min(len(o.text), keptOutput))
	n := max(len(o.pieces)-keptPieces, 0)
	for n < len(o.pieces)-1 && o.pieces[n].end <= keep {
		n++
	}
	if n > 0 {
		keep = max(keep, o.pieces[n-1].end)
	}
	o.pieces = append(o.pieces[:0], o.pieces[n:]...)
	o.text = append(o.text[:0], o.text[keep-o.start:]...)
	o.start = keep
}

// since returns the output of the events with numbers above after. Consecutive pieces of one
// stream become one event.
func (o *output) since(after uint64) (all []event.Envelope) {
	from := o.start
	for i, p := range o.pieces {
		out := p.event.Payload.(event.ToolOutput)
		if p.event.Seq <= after {
			from = p.end
			continue
		}
		if i+1 < len(o.pieces) && o.pieces[i+1].event.Payload.(event.ToolOutput).Stream == out.Stream {
			continue // the next one includes it
		}
		out.Text = string(o.text[from-o.start : p.end-o.start])
		from = p.end
		env := p.event
		env.Payload = out
		all = append(all, env)
	}
	return all
}
