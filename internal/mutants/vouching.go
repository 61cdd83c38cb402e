package main

const (
	vouchersTravel = "^TestVouchers$"
	vouchersName   = "^TestVouchersNameTheirParts$"
	believed       = "^TestWhoIsBelieved$"
)

// vouchingMutants are mistakes in who answers for an outcome.
var vouchingMutants = []mutant{
	{name: "vouching/unsigned", wrong: "the signature of an outcome is not looked at", file: "peer/statement/voucher.go",
		pkg: hostile, run: "^TestForgedAuthors$",
		old: "		err = checkSigned(v.Author, kindVoucher,", new: "		_ = checkSigned(v.Author, kindVoucher,"},
	{name: "vouching/outcome-unsigned", wrong: "a voucher is good for any outcome of its job",
		file: "peer/statement/voucher.go", pkg: "peer/statement", run: "^TestVoucher$",
		old: "	b = append(b, c.Outcome[:]...)\n", new: ""},
	{name: "vouching/run-unsigned", wrong: "a voucher is good in other runs", file: "peer/statement/voucher.go",
		pkg: "peer/statement", run: "^TestVoucher$",
		old: "	b = append(b, run[:]...)\n", new: ""},
	{name: "vouching/tree-unsigned", wrong: "what an outcome was made from can be changed",
		file: "peer/statement/voucher.go", pkg: "peer/statement", run: "^TestVoucher$",
		old: "	b = append(b, c.Tree[:]...)\n", new: ""},
	{name: "vouching/bearer-unsigned", wrong: "anybody can be made to stand for an author",
		file: "peer/statement/voucher.go", pkg: "peer/statement", run: "^TestVoucher$",
		old: "	if err == nil && v.Bearer != \"\" {\n", new: "	if err == nil && len(b) > MaxVoucher {\n"},
	{name: "vouching/any-author", wrong: "a key that was made for it is an author", file: "peer/vouching.go",
		pkg: "peer", run: believed,
		old: "	case known(r.Author), ", new: "	case r.Author != \"\", "},
	{name: "vouching/outcasts", wrong: "what a peer has computed that is out is used", file: "peer/vouching.go",
		pkg: "peer", run: believed,
		old: "	case v.outcast(r.Author):\n		return cannot(\"it was computed by a peer that is out of the swarm: \" + " +
			"r.Author.String())\n	case known", new: "	case known"},
	{name: "vouching/hand-over-whole", wrong: "what is handed over is kept with what nobody answers for",
		file: "peer/vouching.go", pkg: "peer", run: believed,
		old: "Parts: good}", new: "Parts: m.HandOver.Parts}"},
	{name: "vouching/relay-blames", wrong: "a thief loses its job for what a relay has done", file: "peer/vouching.go",
		pkg: "peer", run: "^TestAlteredResults$",
		old: "return v.receive(m.Relayed) && (m.Relayed.Result != nil || m.Relayed.Ack != nil)",
		new: "return v.receive(m.Relayed)"},
	{name: "vouching/relayed-unseen", wrong: "what comes through a relay is not looked at", file: "peer/vouching.go",
		pkg: "peer", run: "^TestAlteredResults$",
		old: "	case m.Relayed != nil && string(m.Relayed.To.Peer) == v.self.String():",
		new: "	case m.Relayed != nil && string(m.Relayed.To.Peer) == \"\":"},
	{name: "vouching/lost-when-adopted", wrong: "an orphan's outcome goes to its new owner without its author",
		file: "steal/adopt.go", pkg: "internal/sim", run: vouchersTravel,
		old: "ad.book.sendFirst(s, k.Outcome, k.Voucher)", new: "ad.book.sendFirst(s, k.Outcome, nil)"},
	{name: "vouching/lost-on-the-way", wrong: "a result that is passed on loses its author", file: "steal/book.go",
		pkg: "internal/sim", run: vouchersTravel,
		old: "b.finish(l.parent, outcome, voucher)", new: "b.finish(l.parent, outcome, nil)"},
	{name: "vouching/lost-in-the-store", wrong: "what is kept has no author", file: "steal/book_segments.go",
		pkg: "internal/sim", run: vouchersTravel,
		old: "Outcome: outcome, Voucher: voucher}", new: "Outcome: outcome}"},
	{name: "vouching/in-place-unsigned", wrong: "long jobs that ran in place are not signed", file: "internal/driver/input.go",
		pkg: "internal/sim", run: vouchersTravel,
		old: "		d.sources.kept(d.segments, e.Parts)\n", new: ""},
	{name: "vouching/parts-twice", wrong: "what is in a long job is also a part of its segment",
		file: "internal/driver/provenance.go", pkg: "internal/driver", run: vouchersName,
		old: "			v.parts[s] = beside\n", new: ""},
	{name: "vouching/nearest-segment", wrong: "a part belongs to any segment that runs",
		file: "internal/driver/provenance.go", pkg: "internal/driver", run: vouchersName,
		old: "		if !j.path.Above(path) {\n			continue\n		}\n", new: ""},
}
