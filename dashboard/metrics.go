package dashboard

import (
	"context"
	"log/slog"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/satin-peer/satin/internal/report"
)

// A collector asks the source when Prometheus does. There are no labels by run or job, so that there are
// always as many series. Figures of runs are added up over the runs that this server has seen: a run that
// came and was forgotten between two questions is not in them.
type collector struct {
	source Source
	log    *slog.Logger

	mu    sync.Mutex
	last  map[string]report.RunStats // of the runs that the source listed last
	total report.RunStats
}

// newMetrics makes the handler of /metrics.
func newMetrics(source Source, log *slog.Logger) http.Handler {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(&collector{source: source, log: log, last: map[string]report.RunStats{}})
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 2, Timeout: askWithin})
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("satin_"+name, help, labels, nil)
}

// A figure is one metric with its value.
type figure struct {
	name, help string
	kind       prometheus.ValueType
	value      float64
	labels     []string // names and values in turn
}

func (f figure) desc() *prometheus.Desc {
	names, _ := f.split()
	return desc(f.name, f.help, names...)
}

func (f figure) split() (names, values []string) {
	for i := 0; i < len(f.labels); i += 2 {
		names, values = append(names, f.labels[i]), append(values, f.labels[i+1])
	}
	return names, values
}

func figures(s Status, t report.RunStats) []figure {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	return []figure{
		{"workers", "Cores the peer may use.", gauge, float64(s.Workers), nil},
		{"workers_busy", "Workers that run a job now.", gauge, float64(s.Busy), nil},
		{"peers", "Other members connected.", gauge, float64(s.Peers), nil},
		{"clusters", "Clusters known.", gauge, float64(len(s.Clusters)), nil},
		{"start_time_seconds", "When the peer was started, since the Unix epoch.", gauge,
			float64(s.Started.UnixMilli()) / 1000, nil},
		{"jobs_executed_total", "Jobs executed on this peer.", counter, float64(s.Work.Executed), nil},
		{"jobs_given_total", "Jobs stolen from this peer by others.", counter, float64(s.Work.Given), nil},
		{"jobs_taken_total", "Jobs stolen by this peer from others.", counter, float64(s.Work.Taken), nil},
		{"busy_seconds_total", "Time workers ran jobs, added up.", counter, s.Work.Busy, nil},
		{"sent_bytes_total", "Bytes sent to other peers.", counter, float64(s.Work.Sent), nil},
		{"received_bytes_total", "Bytes received from other peers.", counter, float64(s.Work.Received), nil},
		{"steals_total", stealsHelp, counter, float64(t.LocalStealSuccesses),
			[]string{"scope", "local", "result", "success"}},
		{"steals_total", stealsHelp, counter, float64(t.LocalStealAttempts - min(t.LocalStealAttempts,
			t.LocalStealSuccesses)), []string{"scope", "local", "result", "failure"}},
		{"steals_total", stealsHelp, counter, float64(t.WideStealSuccesses),
			[]string{"scope", "wide", "result", "success"}},
		{"steals_total", stealsHelp, counter, float64(t.WideStealAttempts - min(t.WideStealAttempts,
			t.WideStealSuccesses)), []string{"scope", "wide", "result", "failure"}},
		{"run_sent_bytes_total", bytesHelp, counter, float64(t.IntraBytes), []string{"scope", "local"}},
		{"run_sent_bytes_total", bytesHelp, counter, float64(t.InterBytes), []string{"scope", "wide"}},
		{"jobs_aborted_total", "Jobs aborted on this peer.", counter, float64(t.AbortedJobs), nil},
		{"jobs_restarted_total", "Jobs spawned again because their peer was lost.", counter,
			float64(t.RestartedJobs), nil},
		{"orphans_reused_total", "Results of lost peers' children that were used again.", counter,
			float64(t.OrphansReused), nil},
	}
}

const (
	stealsHelp = "Answered or failed attempts of this peer to steal a job; scope local is inside its cluster, wide between clusters."
	bytesHelp  = "Bytes sent for runs; scope local is inside the own cluster, wide between clusters."
)

// Describe tells the registry which metrics there are.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	seen := map[string]bool{}
	for _, f := range figures(Status{}, report.RunStats{}) {
		if !seen[f.name] {
			seen[f.name] = true
			out <- f.desc()
		}
	}
}

// Collect asks the source. If that fails there are no figures, and the scrape fails.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	s, err := c.source.Status(ctx)
	var runs []Run
	if err == nil {
		runs, err = c.source.Runs(ctx)
	}
	if err != nil {
		c.log.Warn("no metrics", "error", err)
		out <- prometheus.NewInvalidMetric(desc("workers", "Cores the peer may use."), err)
		return
	}
	for _, f := range figures(s, c.add(runs)) {
		_, values := f.split()
		out <- prometheus.MustNewConstMetric(f.desc(), f.kind, f.value, values...)
	}
}

// add brings the sums up to date.
func (c *collector) add(runs []Run) report.RunStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := map[string]report.RunStats{}
	for _, r := range runs {
		if r.Stats == nil {
			continue
		}
		now[r.Run] = *r.Stats
		more := r.Stats.Grown(c.last[r.Run])
		c.total.Add(&more)
	}
	c.last = now
	return c.total
}
