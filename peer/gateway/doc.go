// Package gateway is where visitors come in: a listener of its own that serves a page to browsers, and on a websocket
// speaks with the peers in their tabs (package tab). Nothing of the dashboard, but scripts that draw, or of the control
// socket is reachable from it, and it has no cookies: what lets a tab in is the ticket in the link, which the House
// checks.
//
// # What it guarantees
//
// All that comes in is a stranger's. A page of another site opens no websocket here, whatever name it gave this
// address: Host and Origin have to be those of the gateway. Before a tab has shown its ticket it may send one small
// frame, within helloWithin. Frames are bounded (package tab), and so are connections, tabs and what is queued for a
// tab, for each network address and in all (turnstile). Whoever sends what no tab sends is cut off, and after some of
// that its address is refused for a while.
//
// A tab that reads too slowly loses its connection, not the member's patience: nothing here waits for one.
package gateway
