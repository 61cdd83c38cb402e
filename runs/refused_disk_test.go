package runs

import "testing"

// What a disk has refused may be there all the same, when only its name could not be flushed: it is taken back, so that
// the next life of the peer knows what its user was told.
func TestRefusedAndThereAllTheSame(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	own, removed := RunID{1}, func(orders []Order, file File, id RunID) bool {
		list := of[Remove](orders)
		return len(list) == 1 && list[0].File == file && list[0].Run == id
	}
	c.Submit(noon, 1, manifest(1, "self"), nil)
	if !removed(c.Written(noon, OwnFile, own, "the name could not be flushed"), OwnFile, own) {
		t.Error("a run that was refused begins in the next life")
	}
	c.Submit(noon, 2, manifest(1, "self"), nil)
	c.Written(noon, OwnFile, own, "")
	c.Suspend(noon, 3, own)
	c.Collected(noon, own, nil)
	if list := of[WriteOwn](c.Written(noon, OwnFile, own, "so")); len(list) != 1 || list[0].Own.Suspended {
		t.Errorf("a run that goes on is suspended in the next life: %+v", list)
	}
	c.Written(noon, OwnFile, own, "")
	c.Suspend(noon, 4, own)
	c.Collected(noon, own, nil)
	c.Written(noon, OwnFile, own, "")
	c.Resume(noon, 5, manifest(1, "self"))
	list := of[WriteOwn](c.Written(noon, OwnFile, own, "so"))
	if len(list) != 1 || !list[0].Own.Suspended || list[0].Own.Manifest.Sealed == nil {
		t.Errorf("a run that stays suspended goes on in the next life: %+v", list)
	}
	others := manifest(2, "o")
	take(c, others)
	c.RootEnded(noon, others.Run, Outcome{Hash: Hash{1}})
	if !removed(c.Written(noon, HeldFile, others.Run, "so"), HeldFile, others.Run) {
		t.Error("an answer stays for ever that nobody knows of")
	}
}
