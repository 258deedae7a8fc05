import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { type Dispatcher, Pool } from 'undici'
import { env } from '../../core/env'
import { Unavailable, UserError } from '../../core/errors'

/** Where Kubernetes puts what a pod needs to speak to it: `token`, `ca.crt` and `namespace`. */
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
const ANSWER_MS = 30_000
/** After which the server ends a watch, so that one on a link that died unnoticed ends, too. */
const WATCH_SECONDS = 240

/** Answers that mean "not now": a conflict with somebody else's change, too many requests, a server that starts or stops. */
const PASSING = new Set([409, 429, 500, 502, 503, 504])

/** The API server of the cluster that this pod runs in (https://kubernetes.io/docs/reference/kubernetes-api/). */
export class KubernetesApi {
  #pool: Pool

  private constructor(
    readonly url: string,
    /** Namespace of this pod, and the only one that is looked at. */
    readonly namespace: string,
    ca: string,
    private readonly folder: string,
  ) {
    this.#pool = new Pool(url, { headersTimeout: ANSWER_MS, connect: { ca, timeout: 5_000 } })
  }

  /**
   * @param folder of the service account.
   * @throws UserError when this is no pod, or one without a service account.
   */
  static async open(url = inCluster(), folder = ACCOUNT): Promise<KubernetesApi> {
    const [namespace, ca] = await Promise.all(
      ['namespace', 'ca.crt'].map((name) => readFile(join(folder, name), 'utf8')),
    ).catch((error) => {
      throw new UserError(
        `The scaler finds no service account (${(error as Error).message}); give its pod one, as deploy/kubernetes does.`,
      )
    })
    return new KubernetesApi(url, namespace!.trim(), ca!, folder)
  }

  /** @returns what stands at a path below this namespace, such as `/apis/apps/v1` and `deployments`. @throws as `change`. */
  async look<T>(group: string, rest: string): Promise<T> {
    return JSON.parse(await this.#text('GET', group, rest)) as T
  }

  /**
   * Changes the fields that `patch` names (a JSON merge patch).
   * @throws Unavailable when the server does not answer or asks to come again, UserError with its words for what it refuses.
   */
  async change(group: string, rest: string, patch: unknown): Promise<void> {
    await this.#text('PATCH', group, rest, JSON.stringify(patch))
  }

  /** The last lines of what a pod's container wrote, without colours and control characters. @throws as `change`. */
  async lastLines(pod: string, container: string, lines: number, previous: boolean): Promise<string> {
    const query = new URLSearchParams({ container, tailLines: String(lines), previous: String(previous) })
    const text = await this.#text('GET', '/api/v1', `pods/${pod}/log?${query}`)
    return stripVTControlCharacters(text)
      .replace(/[\p{Cc}\s]+/gu, ' ')
      .trim()
  }

  /** What changes after `version` in the list at a path, until the signal or the server ends it. @throws as `change`. */
  async *watch<T>(group: string, rest: string, version: string, signal: AbortSignal): AsyncGenerator<T> {
    const query = `watch=true&resourceVersion=${version}&timeoutSeconds=${WATCH_SECONDS}`
    const path = `${this.#path(group, rest)}&${query}`
    const answer = await this.#ask({ method: 'GET', path, signal, bodyTimeout: (WATCH_SECONDS + 30) * 1000 })
    if (answer.statusCode >= 400) await refused('GET', rest, answer)
    let text = ''
    for await (const chunk of answer.body.setEncoding('utf8')) {
      const lines = (text + chunk).split('\n')
      text = lines.pop()!
      for (const line of lines) if (line !== '') yield JSON.parse(line) as T
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  #path = (group: string, rest: string) => `${group}/namespaces/${this.namespace}/${rest}`

  async #text(method: 'GET' | 'PATCH', group: string, rest: string, body?: string): Promise<string> {
    const answer = await this.#ask({ method, path: this.#path(group, rest), ...(body && { body }) })
    if (answer.statusCode >= 400) await refused(method, rest, answer)
    return answer.body.text()
  }

  async #ask(request: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    // Kubernetes writes a new one each hour.
    const token = (await readFile(join(this.folder, 'token'), 'utf8')).trim()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/merge-patch+json' }
    try {
      return await this.#pool.request({ ...request, headers })
    } catch (error) {
      throw new Unavailable(
        `The API server of Kubernetes at ${this.url} does not answer (${(error as Error).message}); check that the network policy lets the scaler reach it.`,
        { cause: error },
      )
    }
  }
}

/** @throws UserError when this process is in no pod. */
function inCluster(): string {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env()
  if (!host)
    throw new UserError(
      'KUBERNETES_SERVICE_HOST is not set, so this is no pod of a cluster; set SCALER_DRIVER to docker or swarm elsewhere.',
    )
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

async function refused(method: string, rest: string, answer: Dispatcher.ResponseData): Promise<never> {
  const text = await answer.body.text()
  const what = `Kubernetes refuses ${method} ${rest.split('?')[0]}: ${said(text)}`
  if (PASSING.has(answer.statusCode)) throw new Unavailable(what)
  if (answer.statusCode === 403)
    throw new UserError(`${what}; give the scaler the role of deploy/kubernetes/base/scaler.yaml.`)
  throw new UserError(what)
}

/** A refusal is an object of the kind Status, with a message for people. */
function said(text: string): string {
  try {
    return (JSON.parse(text) as { message: string }).message
  } catch {
    return text.slice(0, 300)
  }
}
