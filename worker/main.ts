import { runWorker } from './worker-program'

await runWorker()
