package transcript

import "buddy/app/state"

// surelyLacks reports whether a block certainly has no match. It does not lay out the block.
func (f *finder) surelyLacks(v *blockView) bool {
	b := v.block
	switch {
	case !f.prefilter.Useful() || len(b.Text) > maxShown:
		return false
	case b.Call != nil:
		return f.callLacks(v)
	case b.Kind == state.WarningBlock, b.Kind == state.ErrorBlock, b.Kind == state.RetryBlock: // these show other words, too
		return false
	}
	return f.prefilter.Lacks(b.Text)
}

// callLacks is surelyLacks for a call. It lays out everything but the output.
func (f *finder) callLacks(v *blockView) bool {
	call := *v.block.Call
	if out := call.Output.Buf; len(out) > 0 && !f.prefilter.Lacks(out) {
		return false
	}
	if len(call.Output.Buf) == 0 && !f.prefilter.LacksString(call.Result) {
		return false
	}
	call.Output, call.Result = state.Tail{}, ""
	rest := blockView{block: &state.Block{Kind: state.ToolBlock, Call: &call}, cwd: v.cwd, shared: v.shared}
	for _, text := range rest.texts(1000) {
		if from, _ := f.Next(text, 0); from >= 0 {
			return false
		}
	}
	return true
}
