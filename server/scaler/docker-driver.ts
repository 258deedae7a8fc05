import { sentence, UserError } from '../../core/errors'
import type { Log } from '../../core/log'
import type { Container, Engine } from './docker-engine'
import type { Driver } from './driver'

/** What compose.yaml puts on services of workers; its value is their kind. */
export const WORKERS_LABEL = 'orbweaver.workers'
const PROJECT = 'com.docker.compose.project'
const SERVICE = 'com.docker.compose.service'
const NUMBER = 'com.docker.compose.container-number'

/**
 * Workers as containers of the Compose project that the scaler itself belongs to. One more is a clone of one that is there:
 * same image, settings and labels, the next free number. So Compose counts it as its own, and `docker compose ps`, `logs`, `up`
 * and `down` go on working. One too many is stopped, which lets it end what it holds, and removed.
 *
 * The last container of a service is stopped and kept, since without it there would be nothing left to clone.
 */
export function dockerWorkers(engine: Engine, self: string, log: Log): Driver {
  /** Containers that were told to stop and have not ended yet: they do not count, and are not told again. */
  const draining = new Set<string>()
  let project: string | undefined

  const drain = async (container: Container, remove: boolean) => {
    draining.add(container.Id)
    try {
      await engine.call('POST', `/containers/${container.Id}/stop`)
      if (remove) await engine.call('DELETE', `/containers/${container.Id}`)
    } catch (error) {
      log.warn({ container: container.Name, cause: sentence(error) }, 'A worker could not be stopped')
    } finally {
      draining.delete(container.Id)
    }
  }

  return {
    async scale(queue, kind, wanted) {
      project ??= await projectOf(engine, self)
      const all = await containersOf(engine, project)
      const mine = all.filter((one) => one.Config.Labels[WORKERS_LABEL] === kind && serves(one, queue))
      const model = mine[0]
      if (!model)
        throw new UserError(
          `No service of the Compose project ${project} runs ${kind} workers for the queue ${queue}; add one to compose.yaml (the service worker with another name and QUEUE_KEY), and start it once.`,
        )
      const there = mine.filter(({ Id }) => !draining.has(Id))
      const active = there.filter(({ State }) => State.Running || State.Restarting)
      const asleep = there.filter(({ State }) => !(State.Running || State.Restarting))
      for (const one of active.slice(wanted).reverse()) void drain(one, one !== mine[0])
      const missing = Math.max(0, wanted - active.length)
      for (const { Id } of asleep.slice(0, missing)) await engine.call('POST', `/containers/${Id}/start`)
      const taken = new Set(all.filter((one) => serviceOf(one) === serviceOf(model)).map(numberOf))
      for (let more = missing - asleep.length; more > 0; more--) {
        let number = 1
        while (taken.has(number)) number++
        taken.add(number)
        await clone(engine, active.at(-1) ?? model, project, number)
      }
      return active.length
    },
  }
}

/** The label that all containers of the scaler's Compose project have. @throws as `projectOf`. */
export const ofProject = async (engine: Engine, self: string) => `${PROJECT}=${await projectOf(engine, self)}`

/** The Compose project that a container belongs to. @throws UserError when it belongs to none. */
async function projectOf(engine: Engine, self: string): Promise<string> {
  const container = await engine.look<Container>(`/containers/${self}/json`)
  const project = container?.Config.Labels[PROJECT]
  if (project) return project
  throw new UserError(
    `The scaler (${self}) is no container of a Compose project on this Docker engine; start it with \`docker compose up -d scaler\`.`,
  )
}

/** All containers of the project, in the order of their numbers; those that go while they are looked at are left out. */
async function containersOf(engine: Engine, project: string): Promise<Container[]> {
  const filters = JSON.stringify({ label: [`${PROJECT}=${project}`, 'com.docker.compose.oneoff=False'] })
  const list = await engine.look<{ Id: string }[]>(
    `/containers/json?all=1&filters=${encodeURIComponent(filters)}`,
  )
  const looked = await Promise.all(
    (list ?? []).map(({ Id }) => engine.look<Container>(`/containers/${Id}/json`)),
  )
  return looked.filter((one) => one !== undefined).sort((a, b) => numberOf(a) - numberOf(b))
}

const serviceOf = (container: Container) => container.Config.Labels[SERVICE]
const numberOf = (container: Container) => Number(container.Config.Labels[NUMBER])
const serves = ({ Config }: Container, queue: string) => Config.Env?.includes(`QUEUE_KEY=${queue}`) ?? false

async function clone(engine: Engine, model: Container, project: string, number: number): Promise<void> {
  const service = serviceOf(model)!
  const name = `${project}-${service}-${number}`
  const { Hostname, MacAddress: _, ...config } = model.Config
  const own = [model.Name.slice(1), model.Id.slice(0, 12)]
  const networks = Object.entries(model.NetworkSettings.Networks).map(([network, { Aliases }]) => [
    network,
    { Aliases: [name, ...(Aliases ?? []).filter((alias) => !own.includes(alias))] },
  ])
  const { Id } = await engine.call<{ Id: string }>('POST', `/containers/create?name=${name}`, {
    ...config,
    // Unless it was given, a container's host name is its own id.
    ...(Hostname && !model.Id.startsWith(Hostname) && { Hostname }),
    // An image that was built anew under the same name is for `docker compose up`, which replaces all of them.
    Image: await imageOf(engine, model),
    Labels: { ...config.Labels, [NUMBER]: String(number) },
    HostConfig: model.HostConfig,
    NetworkingConfig: { EndpointsConfig: Object.fromEntries(networks) },
  })
  try {
    await engine.call('POST', `/containers/${Id}/start`)
  } catch (error) {
    // What can't start must not stay as one that Compose would count.
    await engine.call('DELETE', `/containers/${Id}?force=1`)
    throw error
  }
}

/** The model's image, by name while that still means the same. */
async function imageOf(engine: Engine, { Image, Config }: Container): Promise<string> {
  const named = await engine.look<{ Id: string }>(`/images/${encodeURIComponent(Config.Image)}/json`)
  return named?.Id === Image ? Config.Image : Image
}
