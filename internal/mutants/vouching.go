package main

const (
	vouchersTravel = "^TestVouchers$"
	vouchersName   = "^TestVouchersNameTheirParts$"
	signedLeaving  = "^TestSignedOnLeaving$"
	believed       = "^TestWhoIsBelieved$"
)

// vouchingMutants are mistakes in who answers for an outcome.
var vouchingMutants = []mutant{
	{name: "vouching/unsigned", wrong: "the signature of an outcome is not looked at",
		file: "peer/statement/voucher.go", pkg: hostile, run: "^TestForgedAuthors$",
		old: "		err = checkSigned(v.Author, kindVoucher,", new: "		_ = checkSigned(v.Author, kindVoucher,"},
	{name: "vouching/outcome-unsigned", wrong: "a voucher is good for any outcome of its job",
		file: "peer/statement/voucher.go", run: "^TestVoucher$", old: "	b = append(b, c.Outcome[:]...)\n",
		new: ""},
	{name: "vouching/run-unsigned", wrong: "a voucher is good in other runs", old: "	b = append(b, run[:]...)\n",
		new: ""},
	{name: "vouching/tree-unsigned", wrong: "what an outcome was made from can be changed",
		old: "	b = append(b, c.Tree[:]...)\n", new: ""},
	{name: "vouching/bearer-unsigned", wrong: "anybody can be made to stand for an author",
		old: "	if err == nil && v.Bearer != \"\" {\n", new: "	if err == nil && len(b) > MaxVoucher {\n"},
	{name: "vouching/any-author", wrong: "a key that was made for it is an author", file: "peer/vouching.go",
		run: believed, old: "	case known(r.Author), ", new: "	case r.Author != \"\", "},
	{name: "vouching/outcasts", wrong: "what a peer has computed that is out is used",
		old: "	case v.outcast(r.Author):\n		return nil, cannot(\"it was computed by a peer that is out of the swarm: \" + " +
			"r.Author.String())\n	case known", new: "	case known"},
	{name: "vouching/hand-over-whole", wrong: "what is handed over is kept with what nobody answers for",
		old: "Parts: good}", new: "Parts: m.HandOver.Parts}"},
	{name: "vouching/result-unsigned", wrong: "results leave before they are signed", file: "peer/vouching.go",
		run: signedLeaving, old: "		m.Result.Voucher = p.Voucher\n", new: ""},
	{name: "vouching/hand-over-unsigned", wrong: "what is handed over leaves before it is signed",
		old: "			v.sign(m.Run, &over.Parts[i])\n", new: "			_ = i\n"},
	{name: "vouching/anybodys-pen", wrong: "who has a message relayed gets this peer's signature under it",
		old: "m.Relayed != nil && m.Relayed.From == m.From", new: "m.Relayed != nil"},
	{name: "vouching/disk-unsigned", wrong: "what a disk has convinces nobody", file: "peer/ledger.go",
		run: "^TestSignedOnDisk$", old: "		r.Voucher = p.Voucher\n", new: ""},
	{name: "vouching/waits-signed", wrong: "what is not worth writing is signed for",
		file: "internal/checkpoint/writer.go", run: "^TestDiscard$", old: "	rest := w.uncovered(w.batch)\n",
		new: "	for i := range w.batch {\n		w.cfg.Complete(&w.batch[i])\n	}\n" +
			"	rest := w.uncovered(w.batch)\n"},
	{name: "checkpoint/discards-late", wrong: "a directory is written before it is removed",
		old: "	waits := !l.discarded && (len(w.batch) > 0 || len(l.queue) > 0)",
		new: "	waits := len(w.batch) > 0 || len(l.queue) > 0"},
	{name: "vouching/relayed-unseen", wrong: "what comes through a relay is not looked at",
		file: "peer/vouching.go", run: "^TestAlteredResults$",
		old: "	case m.Relayed != nil && string(m.Relayed.To.Peer) == v.self.String():",
		new: "	case m.Relayed != nil && string(m.Relayed.To.Peer) == \"\":"},
	{name: "vouching/lost-when-adopted", wrong: "an orphan's outcome goes to its new owner without its author",
		file: "steal/adopt.go", pkg: "internal/sim", run: vouchersTravel,
		old: "ad.book.sendFirst(s, k.Outcome, k.Voucher)", new: "ad.book.sendFirst(s, k.Outcome, nil)"},
	{name: "vouching/lost-on-the-way", wrong: "a result that is passed on loses its author",
		file: "steal/book.go", pkg: "internal/sim", run: vouchersTravel,
		old: "b.finish(l.parent, outcome, voucher)", new: "b.finish(l.parent, outcome, nil)"},
	{name: "vouching/lost-in-the-store", wrong: "what is kept has no author", file: "steal/book_segments.go",
		pkg: "internal/sim", run: vouchersTravel, old: "Outcome: outcome, Voucher: voucher}",
		new: "Outcome: outcome}"},
	{name: "vouching/in-place-unsigned", wrong: "long jobs that ran in place are not signed",
		file: "internal/driver/input.go", pkg: "internal/sim", run: vouchersTravel,
		old: "			p.Voucher = d.sources.kept(&e.Kept[i])\n", new: ""},
	{name: "vouching/parts-twice", wrong: "what is in a long job is also a part of its segment",
		file: "internal/driver/provenance.go", run: vouchersName, old: "		v.parts[s] = beside\n", new: ""},
	{name: "vouching/ended-segment", wrong: "what is remembered of a segment that has ended is never forgotten",
		file: "internal/driver/provenance.go", run: "^TestEndedSegmentHasNoParts$",
		old: "if list, runs := v.parts[s]; runs && len", new: "if list, _ := v.parts[s]; len"},
	{name: "vouching/whose-segment", wrong: "jobs leave as those of no segment",
		file: "internal/compute/jobs.go", run: "^TestPort$",
		old: "out.Spawned, out.Segment = true, steal.SegmentID(j.Root)", new: "out.Spawned = true"},
	{name: "vouching/whose-kept", wrong: "long jobs in place are kept as those of no segment",
		file: "internal/engine/keep.go", pkg: "internal/compute", run: "^TestPort$",
		old: "Root: p.rootOf(r).name(),", new: ""},
}
