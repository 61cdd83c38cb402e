package paper

import (
	"fmt"

	"github.com/satin-peer/satin/internal/sim/volunteers"
)

func campaignPage(ways, hosts []*campaignRow, seeds int) *Document {
	d := &Document{}
	d.para("# A campaign for w(2;3,20) among 1,000 volunteers")
	d.para("A model of a campaign in virtual time (package `internal/sim/volunteers` says what is in it and what is "+
		"not). [Proofs](../proofs.md) expects %.1e conflicts of t = 20, at %.1f µs of a core to solve each and %.1f to check "+
		"it; a piece, as it travels, has %d bytes for each. The sizes of the %d parts are drawn from those of the "+
		"2,000 parts of w(2;3,13), of which the largest is 14 times the mean. A volunteer gives one core as fast as "+
		"that of the figures; the owner has 8 of these and 1 Gbit/s. Seeds: %d.", campaignConflicts, 1e6*campaignSolving,
		1e6*campaignChecking, campaignBytes, campaignParts, seeds)
	d.para("Who is there: SETI@home's hosts ran %.2f of all time, had leave to compute in %.2f of that, and a network in "+
		"%.2f of it, where a second of a core gave %.2f of processor time (Anderson and Fedak, \"The computational and "+
		"storage potential of volunteer computing\", CCGRID 2006; 330,000 hosts): together they are there for %.0f %%. How long "+
		"they stay is from the Failure Trace Archive (Javadi, Kondo, Iosup and Epema, JPDC 2013; Weibull's "+
		"distributions, shape and hours, as OpenDC's source quotes them): a desktop grid at Notre Dame, 0.45 and 4.16 "+
		"there, 0.51 and 0.74 away; desktops at Microsoft, 0.55 and 35.3, 0.60 and 9.34. SETI@home's share is made of these "+
		"shapes with a mean of %.1f hours there. That a leaver in five says nothing, and all links, are ours.",
		setiOn, setiActive, setiConnected, setiEfficiency, 100*setiThere, dameUp)
	d.table(wayRows(ways))
	d.para("\"Of their time\" is what volunteers solve and check of what they could. A part is *shared* if idle hosts take "+
		"of it what is worth %d s or more, and *undivided* if one solves it. It counts as begun until its piece is "+
		"checked, by the owner's cores or by two other volunteers, who have it from where it is whole, and not from the owner. "+
		"`campaign run` allows 64 at once and has the owner check, whatever else it is told.", shared)
	r := &ways[0].reports[0]
	d.para("Solving alone would take %.1f days. What takes longer is the proof: a core makes %.0f Mbit/s of it, more than many "+
		"links carry, so sharing a part out costs more than it gains, and one owner's cores and link take weeks for what "+
		"all others do in a day. A part here has %.1f GB of proof on average, and a result may have 256 MiB: `campaign` divides "+
		"such a part again, into parts whose pieces have 8 MiB on average, which are not in this model.",
		campaignConflicts*campaignSolving/setiEfficiency/campaignHosts/setiThere/86400,
		campaignBytes/campaignSolving*8/1e6, campaignConflicts/campaignParts*campaignBytes/1e9)
	d.para("The last row of that table with other volunteers:")
	d.table(hostRows(hosts))
	d.para("What the campaign's page would have said was left, in the first row:%s.", said(r))
	return d
}

func wayRows(rows []*campaignRow) [][]string {
	table := [][]string{append([]string{"parts", "at once", "volunteers' links, Mbit/s", "checked by"},
		campaignColumns...)}
	for _, r := range rows {
		way, by := "shared", "the owner"
		if r.grain == solvedByOne {
			way = "undivided"
		}
		if r.verdicts > 0 {
			by = fmt.Sprintf("%d others", r.verdicts)
		}
		table = append(table, append([]string{way, fmt.Sprint(r.atOnce), fmt.Sprint(r.link), by}, r.cells()...))
	}
	return table
}

func hostRows(rows []*campaignRow) [][]string {
	table := [][]string{append([]string{"volunteers", "there, %", "go without a word, %"}, campaignColumns...)}
	for _, r := range rows {
		up, down := r.hosts.up.Mean(), r.hosts.down.Mean()
		table = append(table, append([]string{r.hosts.name, fmt.Sprintf("%.0f", 100*up/(up+down)),
			fmt.Sprintf("%.0f", 100*r.abrupt)}, r.cells()...))
	}
	return table
}

// said lists the estimates of a run beside what was true.
func said(r *volunteers.Report) (text string) {
	for _, e := range r.Estimates {
		text += fmt.Sprintf(" at %.0f %% of all work, %.2e conflicts with a standard error of %.1e (true: %.2e);", 100*e.Done,
			e.Said, e.Error, e.Left)
	}
	if text != "" {
		text = text[:len(text)-1]
	}
	return text
}
