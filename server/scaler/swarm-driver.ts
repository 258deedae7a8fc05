import { UserError } from '../../core/errors'
import { WORKERS_LABEL } from './docker-driver'
import type { Engine } from './docker-engine'
import type { Driver } from './driver'

const STACK = 'com.docker.stack.namespace'

/** What `GET /services/{id}` tells, as far as it is used here; the rest goes back as it came. */
interface Service {
  ID: string
  Version: { Index: number }
  Spec: {
    Name: string
    Labels: Record<string, string>
    Mode: { Replicated?: { Replicas: number } }
    TaskTemplate: { ContainerSpec: { Env?: string[] } }
  }
}

/** Somebody else may change the service between our look and our update. */
const TRIES = 5

/**
 * Workers as tasks of the stack that the scaler itself belongs to. Their number is the service's own, so `docker service ls` and
 * `docker stack deploy` know it; Swarm starts and stops what is needed, wherever there is room, and each that is stopped has the
 * service's grace time to end what it holds. Needs a manager's engine.
 */
export function swarmWorkers(engine: Engine, self: string): Driver {
  let stack: string | undefined
  return {
    async scale(queue, kind, wanted) {
      stack ??= await stackOf(engine, self)
      for (let tries = 1; ; tries++) {
        const { ID, Version, Spec } = await serviceOf(engine, stack, queue, kind)
        const before = Spec.Mode.Replicated!.Replicas
        if (before === wanted) return before
        try {
          await engine.call('POST', `/services/${ID}/update?version=${Version.Index}`, {
            ...Spec,
            Mode: { Replicated: { ...Spec.Mode.Replicated, Replicas: wanted } },
          })
          return before
        } catch (error) {
          if (tries >= TRIES || !/out of sequence/.test(String(error))) throw error
        }
      }
    },
  }
}

/** The label that all containers of the scaler's stack have. @throws as `stackOf`. */
export const ofStack = async (engine: Engine, self: string) => `${STACK}=${await stackOf(engine, self)}`

/** The stack whose task a container is. @throws UserError when it is none. */
async function stackOf(engine: Engine, self: string): Promise<string> {
  const container = await engine.look<{ Config: { Labels: Record<string, string> } }>(
    `/containers/${self}/json`,
  )
  const stack = container?.Config.Labels[STACK]
  if (stack) return stack
  throw new UserError(
    `The scaler (${self}) is no task of a stack on this Docker engine; deploy it with \`docker stack deploy\`, on a manager.`,
  )
}

async function serviceOf(engine: Engine, stack: string, queue: string, kind: string): Promise<Service> {
  const filters = JSON.stringify({ label: [`${STACK}=${stack}`, `${WORKERS_LABEL}=${kind}`] })
  const all = await engine.look<Service[]>(`/services?filters=${encodeURIComponent(filters)}`)
  const found = all?.find(
    ({ Spec }) => Spec.Mode.Replicated && Spec.TaskTemplate.ContainerSpec.Env?.includes(`QUEUE_KEY=${queue}`),
  )
  if (found) return found
  throw new UserError(
    `No service of the stack ${stack} runs ${kind} workers for the queue ${queue}; add one to the stack file (the service worker with another name and QUEUE_KEY), and deploy it again.`,
  )
}
