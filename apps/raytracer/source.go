package raytracer

import (
	"fmt"
	"slices"
	"sync"
)

// Source describes a scene completely and in little space, so that it can travel with a job.
type Source struct {
	Generator string // "balls" or "mount" ...
	Size      int    // ... of this size,
	Text      string // or an NFF file
}

// build makes the scene; it is a function of s and takes from milliseconds to seconds.
func (s *Source) build() (*scene, error) {
	if s.Generator == "" {
		return parse("scene", s.Text)
	}
	g, ok := generators[s.Generator]
	if !ok || s.Size < 1 || s.Size > g.largest {
		return nil, fmt.Errorf("there is no scene %q of size %d", s.Generator, s.Size)
	}
	scene := g.scene(s.Size)
	scene.finish()
	return scene, nil
}

// scenes remembers the scenes built last. It is the one thing that jobs share, and it does not make them less
// of a function of their argument: what it returns depends on the source alone, only how long that takes does
// not. Without it each job of a few pixels would build the scene again.
var scenes sceneCache

// sceneCache holds the scenes of the last maxScenes sources that were asked for, the latest first.
type sceneCache struct {
	mu      sync.Mutex
	entries []cached
}

type cached struct {
	source *Source // must not change, and does not: it belongs to a job's argument
	built  *built
}

// built is a scene that is built by the first job that needs it; the others wait.
type built struct {
	once  sync.Once
	scene *scene
	err   error
}

const maxScenes = 4

func (c *sceneCache) get(source *Source) (*scene, error) {
	b := c.entry(source)
	b.once.Do(func() { b.scene, b.err = source.build() })
	return b.scene, b.err
}

// entry finds the entry of source, or makes one, and puts it in front. The jobs of one process share their
// source, so it is nearly always known by its address; a job that came from elsewhere has a copy, which is
// known by its content.
func (c *sceneCache) entry(source *Source) *built {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) > 0 && c.entries[0].source == source {
		return c.entries[0].built
	}
	e := cached{source: source}
	i := slices.IndexFunc(c.entries, func(e cached) bool { return e.source == source })
	if i >= 0 {
		e.built = c.entries[i].built
		c.entries = slices.Delete(c.entries, i, i+1)
	} else if i = slices.IndexFunc(c.entries, func(e cached) bool { return *e.source == *source }); i >= 0 {
		e.built = c.entries[i].built
	} else {
		e.built = new(built)
	}
	c.entries = slices.Insert(c.entries, 0, e)
	c.entries = c.entries[:min(len(c.entries), maxScenes)]
	return e.built
}
