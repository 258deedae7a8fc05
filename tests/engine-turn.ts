import { lockFolder } from '../cli/stack/lock.mjs'

/** How long the tests of one file may have the engine, in ms: as long as another may have to wait for its turn. */
export const ENGINE_TURN_MS = 900_000

/**
 * Waits until no other test file uses the Docker engine. Making and leaving a swarm cuts containers that run meanwhile off from the
 * engine's name server, and memory limits mean little on a machine that builds images besides.
 * @returns what ends the turn.
 */
export const engineTurn = () => lockFolder('orbweaver#engine', () => {})
