// Package volunteers simulates a campaign of package campaign among volunteers, in virtual time: how long it takes,
// what work is lost, and how many bytes go where. One seed decides all of it.
//
// # What is modelled
//
// Parts are begun in the campaign's own order, so many at once, and are estimated by the campaign's own estimate. A
// host, one core of a volunteer's machine, is there and away in turn. Idle ones take half of what another has before
// it, the largest of a few drawn by lot, as thieves take the oldest job of a recursive program; so a part is solved by
// many.
// Whoever has finished a share and all that was taken from it sends its piece to whom it came from, over its own link,
// one after the other. A piece that is whole goes to the owner, who checks it, or to so many other hosts, who do.
//
// Whoever leaves with a goodbye hands over what it has; what it did not finish is begun by another. Of one that is gone
// without a word everything is done again that it did itself since it took its share; what others had brought to it,
// they bring again.
//
// # What is not
//
// Protocols: those have simulators of their own, by which their costs are known to be small beside what is here. All
// hosts are equally fast, the owner is always there, and nobody leaves for good.
package volunteers
