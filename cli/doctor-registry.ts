import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { childEnv, env } from '../core/env'
import { sentence } from '../core/errors'
import { type Finding, ok, warn } from './finding'
import { packageFile } from './package-file'

/** Less than this makes a build of the images take take ten minutes and more: they fetch some 150 MB. */
const SLOW_BYTES_PER_SECOND = 250_000
const NPM = 'https://registry.npmjs.org'
const SAMPLE_BYTES = 1_000_000
const SAMPLE_MS = 4_000
/** The largest of the packages that every build fetches. */
const SAMPLE = 'next'

/** How fast packages come from where builds would fetch them; an image builds nothing. */
export async function packageRegistry(): Promise<Finding> {
  const lock = packageFile('package-lock.json')
  if (!existsSync(lock)) return ok('not needed: nothing is built here')
  const { packages } = JSON.parse(await readFile(lock, 'utf8')) as {
    packages: Record<string, { version: string }>
  }
  const own = childEnv().npm_config_registry
  return registrySpeed(env().NPM_REGISTRY ?? own ?? NPM, packages[`node_modules/${SAMPLE}`]!.version)
}

/** How fast a registry gives the begin of the largest package. */
export async function registrySpeed(registry: string, version: string): Promise<Finding> {
  const url = `${registry.replace(/\/+$/, '')}/${SAMPLE}/-/${SAMPLE}-${version}.tgz`
  const remedy =
    'name a mirror near you in .env (such as NPM_REGISTRY=https://registry.npmmirror.com), which builds of images take as a build argument.'
  const began = performance.now()
  let bytes = 0
  let fault = ''
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(SAMPLE_MS) })
    if (!answer.ok) return warn(`The package registry ${registry} answers ${answer.status}; ${remedy}`)
    for await (const chunk of answer.body!) {
      bytes += chunk.byteLength
      if (bytes >= SAMPLE_BYTES) break
    }
  } catch (error) {
    fault = sentence(error)
  }
  const speed = bytes / ((performance.now() - began) / 1000)
  if (bytes === 0) return warn(`The package registry ${registry} does not answer (${fault}); ${remedy}`)
  const text = `${Math.round(speed / 1000)} kB/s`
  return speed < SLOW_BYTES_PER_SECOND
    ? warn(`The package registry ${registry} is slow (${text}); ${remedy}`)
    : ok(`${registry} gives ${text}`)
}
