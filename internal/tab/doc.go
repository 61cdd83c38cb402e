// Package tab is what a browser tab that lends its cores and the member that it lends them to say to each other.
//
// The tab is a peer: it has the core of package steal, the driver and the engine, in WebAssembly
// (internal/tab/visitor, internal/tab/browser). The member is its only partner. What the two send is a Frame each, in
// one message of a websocket, and nearly all frames are messages of the steal protocol as they are.
//
// The member begins with a Greeting. The tab answers with its Visit (package statement), signed for this greeting. Then
// the member sends Work, and Over when that has ended, as often as it likes; in between both send what their cores
// have to say of that run. A tab that rests says so, and gets no work meanwhile. The connection's end is its goodbye.
//
// What a frame brings is bounded and checked here as far as it can be without knowing the run: see Decode.
package tab
