// A member in another language that speaks nonsense: js-libp2p joins by a proper handshake, then sends on every protocol
// what no correct peer does, and answers nonsense to whatever it is asked. It prints what became of its streams as JSON.
//
//   node garbage.mjs ADDRESS HELLO PATIENCE PROTOCOL...    HELLO in hexadecimal, PATIENCE in seconds

import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { createHash } from 'node:crypto'

// js-libp2p wants node 22; this is all that it misses in node 20.
Promise.withResolvers ??= function () {
  const it = {}
  it.promise = new Promise((resolve, reject) => Object.assign(it, { resolve, reject }))
  return it
}

const [address, hello, patience, ...protocols] = process.argv.slice(2)

/** noiseOf is always the same. */
function noiseOf (seed, length) {
  const parts = []
  for (let i = 0; i * 32 < length; i++) parts.push(createHash('sha256').update(`${seed} ${i}`).digest())
  return Buffer.concat(parts).subarray(0, length)
}

/** frame puts the length before. */
function frame (body, length = body.length) {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(length)
  return Buffer.concat([head, body])
}

/** What is sent on each protocol, and whether it is certain from it alone that nothing good will follow. */
const garbage = [
  { name: 'noise in a frame', bytes: frame(noiseOf('frame', 512)), hopeless: true },
  { name: 'noise', bytes: noiseOf('none', 4096), hopeless: true },
  { name: 'a huge frame', bytes: frame(noiseOf('huge', 8), 0xffffffff), hopeless: true },
  { name: 'a deep frame', bytes: frame(Buffer.alloc(2048, 0x81)), hopeless: true },
  { name: 'a list without an end', bytes: frame(Buffer.concat([Buffer.from([0x9f]), noiseOf('list', 64)])), hopeless: true },
  { name: 'a text of 2^63 bytes', bytes: frame(Buffer.from('7b7fffffffffffffff', 'hex')), hopeless: true },
  { name: 'a map that is an array', bytes: frame(Buffer.from('83010203', 'hex')), hopeless: true },
  { name: 'an empty frame', bytes: frame(Buffer.alloc(0)), hopeless: false },
  { name: 'half a frame', bytes: frame(noiseOf('half', 10), 100), hopeless: false },
  { name: 'nothing', bytes: Buffer.alloc(0), hopeless: false }
]

const node = await createLibp2p({
  transports: [tcp()], connectionEncrypters: [noise()], streamMuxers: [yamux()],
  connectionMonitor: { enabled: false }
})
for (const p of protocols) {
  await node.handle(p, (stream) => { stream.send(noiseOf('answer', 2048)) }, { maxInboundStreams: 1000 })
}
await node.start()
const connection = await node.dial(multiaddr(address))

const greeting = await connection.newStream('/satin/hello/1')
const welcome = await new Promise((resolve, reject) => {
  let got = Buffer.alloc(0)
  greeting.addEventListener('message', (e) => {
    got = Buffer.concat([got, Buffer.from(e.data.subarray())])
    if (got.length >= 4 && got.length >= 4 + got.readUInt32BE(0)) resolve(got.subarray(4, 4 + got.readUInt32BE(0)))
  })
  greeting.addEventListener('close', () => reject(new Error('the handshake was not answered')))
  greeting.send(frame(Buffer.from(hello, 'hex')))
})

const out = { welcome: welcome.toString('hex'), opened: 0, refused: 0, open: [] }
const sent = []
for (const p of protocols) {
  for (const g of garbage) {
    for (let i = 0; i < 4; i++) {
      let stream
      try {
        stream = await connection.newStream(p, { maxOutboundStreams: 1000, signal: AbortSignal.timeout(5000) })
      } catch {
        out.refused++ // it lets nobody open that many
        continue
      }
      out.opened++
      if (g.hopeless) sent.push({ stream, what: `${g.name} on ${p}` })
      try { stream.send(g.bytes) } catch { /* it has ended before */ }
    }
  }
}
const goesOn = (s) => s.stream.status === 'open' && s.stream.remoteWriteStatus !== 'closed'
for (let i = 0; i < patience * 10 && sent.some(goesOn); i++) await new Promise((resolve) => setTimeout(resolve, 100))
out.open = [...new Set(sent.filter(goesOn).map((s) => s.what))]
out.connected = connection.status === 'open'
console.log(JSON.stringify(out))
process.exit(0)
