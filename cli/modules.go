package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/peer/control"
)

func newModulesCommand(c console) *cobra.Command {
	return newShowCommand(c, cobra.Command{
		Use:   "modules",
		Short: "List the modules of the swarm",
		Long: `modules lists the modules that members have published, each with who signed for it, its size and its hash, and those that this
peer has besides. satin-peer run NAME runs one; where several have the same name, or an application has it, satin-peer run
PUBLISHER/NAME or the first eight digits of its hash.`,
		Example: `  satin-peer modules
  satin-peer modules --json`,
	}, "the modules", (*control.Client).Modules, func(list []control.ModuleInfo) error {
		if len(list) == 0 {
			fmt.Fprintln(c.err, "no member has published a module; satin-peer publish FILE NAME publishes one")
			return nil
		}
		w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tMODULE\tSIZE\tHERE\tPUBLISHER\tSUMMARY")
		for _, m := range list {
			here := "no"
			if m.Here {
				here = "yes"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", dash(m.Name), m.Module[:min(len(m.Module), 16)],
				fileSize(m.Size), here, dash(m.Publisher), oneLine(m.Summary))
		}
		return w.Flush()
	})
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return oneLine(s)
}

// fileSize says how large a module is: those in C and Rust have some KB.
func fileSize(n int64) string {
	if n < 1e6 {
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func newPublishCommand(list []apps.App, c console) *cobra.Command {
	return newDaemonCommand(c, cobra.Command{
		Use:   "publish FILE NAME",
		Short: "Stand for a module under a name",
		Long: `publish signs that this peer stands for the module in FILE, and tells the swarm: from then on every member can run it as
satin-peer run NAME, and those run it that run published modules only (setting modules). The module is fetched from here or
from whoever else has it. Publishing another file under the same name replaces the first one.`,
		Example: `  satin-peer publish ./golomb.wasm golomb`,
	}, 2, 2, func(ctx context.Context, d *control.Client, args []string) error {
		bin, err := apps.ReadFile(args[0], module.MaxSize)
		if err != nil {
			return err
		}
		m, release, err := c.loadModule(args[0], bin)
		if err != nil {
			return err
		}
		release()
		info, err := d.Publish(ctx, control.Publication{Name: args[1], Summary: m.Summary, Args: m.Args, Bytes: bin})
		if err != nil {
			return err
		}
		fmt.Fprintf(c.out, "%s: %s, %s, module %s, signed by %s\n", info.Name, strings.TrimSpace(m.Summary),
			fileSize(int64(len(bin))), info.Module[:min(len(info.Module), 16)], info.Publisher)
		if info.Warning != "" {
			c.complain(oneLine(info.Warning))
		}
		if slices.ContainsFunc(list, func(a apps.App) bool { return a.Name == info.Name }) {
			fmt.Fprintf(c.err, "satin-peer run %s runs the application of that name that is built in, and satin-peer run %s/%s this module\n",
				info.Name, info.Publisher, info.Name)
		}
		return nil
	})
}

// modulesText says whose modules a peer runs, and which it has.
func modulesText(m control.Modules) string {
	if m.Whose == "off" || m.Whose == "" {
		return "none are run"
	}
	text := "those in runs of members are run"
	if m.Whose == "published" {
		text = "those that members have published are run"
	}
	text += fmt.Sprintf("; %d here, %s", m.Here, fileSize(m.Bytes))
	switch {
	case m.Waiting == 1:
		text += "; 1 run waits for its module"
	case m.Waiting > 1:
		text += fmt.Sprintf("; %d runs wait for their modules", m.Waiting)
	}
	return text
}

// helpText says who can take part in a run that has just begun; "" if there is nobody else in the swarm.
func helpText(h *control.Help) string {
	if h == nil || h.Can == 0 && len(h.Cannot) == 0 {
		return ""
	}
	if len(h.Cannot) == 0 {
		return counted(uint64(h.Can), "other peer") + " can take part"
	}
	cannot, why := 0, []string(nil)
	for _, l := range h.Cannot {
		cannot += l.Peers
		why = append(why, fmt.Sprintf("%d %s", l.Peers, oneLine(l.Why)))
	}
	if len(why) == 1 {
		why[0] = "they " + oneLine(h.Cannot[0].Why)
	}
	return fmt.Sprintf("%d of %s cannot help: %s", cannot, counted(uint64(h.Can+cannot), "other peer"),
		strings.Join(why, "; "))
}
