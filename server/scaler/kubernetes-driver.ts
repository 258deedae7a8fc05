import { UserError } from '../../core/errors'
import { WORKERS_LABEL } from './docker-driver'
import type { Driver } from './driver'
import type { KubernetesApi } from './kubernetes-api'

/** What a Deployment tells, as far as it is used here. */
interface Deployment {
  metadata: { name: string }
  spec: {
    replicas?: number
    template: { spec: { containers: { env?: { name: string; value?: string }[] }[] } }
  }
}

interface Autoscaler {
  metadata: { name: string }
  spec: { scaleTargetRef: { kind: string; name: string } }
}

/**
 * Workers as pods of a Deployment in the scaler's own namespace. Their number is that of its scale subresource, the one thing that
 * the scaler may write, so `kubectl scale` and `kubectl get` know it; Kubernetes starts and stops pods, and each that is stopped
 * has the pod's grace time to end what it holds.
 */
export function kubernetesWorkers(api: KubernetesApi): Driver {
  return {
    async scale(queue, kind, wanted) {
      const { metadata, spec } = await deploymentOf(api, queue, kind)
      const before = spec.replicas ?? 1
      if (before === wanted) return before
      await requireOwn(api, metadata.name)
      await api.change('/apis/apps/v1', `deployments/${metadata.name}/scale`, { spec: { replicas: wanted } })
      return before
    },
  }
}

async function deploymentOf(api: KubernetesApi, queue: string, kind: string): Promise<Deployment> {
  const label = encodeURIComponent(`${WORKERS_LABEL}=${kind}`)
  const { items } = await api.look<{ items: Deployment[] }>(
    '/apis/apps/v1',
    `deployments?labelSelector=${label}`,
  )
  const found = items.find(({ spec }) =>
    spec.template.spec.containers.some(({ env }) =>
      env?.some(({ name, value }) => name === 'QUEUE_KEY' && value === queue),
    ),
  )
  if (found) return found
  throw new UserError(
    `No Deployment of the namespace ${api.namespace} runs ${kind} workers for the queue ${queue}; add one (the Deployment worker with another name and QUEUE_KEY), and apply it.`,
  )
}

/** An autoscaler would take back within seconds whatever is set here. @throws UserError when there is one. */
async function requireOwn(api: KubernetesApi, deployment: string): Promise<void> {
  const { items } = await api.look<{ items: Autoscaler[] }>(
    '/apis/autoscaling/v2',
    'horizontalpodautoscalers',
  )
  const other = items.find(
    ({ spec: { scaleTargetRef: to } }) => to.kind === 'Deployment' && to.name === deployment,
  )
  if (other)
    throw new UserError(
      `The autoscaler ${other.metadata.name} decides how many pods the Deployment ${deployment} has; change its bounds, or delete it (with KEDA: the ScaledObject) to ask for workers here.`,
    )
}
