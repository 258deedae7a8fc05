#!/usr/bin/env node
// `npm run init`: writes .env with secrets of this installation, for compose.yaml. Uses nothing but Node.
import { randomBytes } from 'node:crypto'
import { statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const file = join(resolve(process.argv[2] ?? '.'), '.env')
const secret = () => randomBytes(32).toString('hex')
/** The group that may use the Docker engine, for the scaler. Elsewhere than on Linux the engine's own machine has the socket, as root's. */
const dockerGroup = () => {
  const socket = process.platform === 'linux' && statSync('/var/run/docker.sock', { throwIfNoEntry: false })
  return socket ? socket.gid : 0
}
const text = `# Made by \`npm run init\`. Keep it secret, and keep a copy: the data can't be opened without its passwords.
# All that can be set: docs/configuration.md; what compose.yaml takes besides: docs/deployment.md.
REDIS_PASSWORD=${secret()}
MYSQL_PASSWORD=${secret()}
MYSQL_ROOT_PASSWORD=${secret()}
AUTH_SECRET=${secret()}
# With it the credentials of spiders and proxies are encrypted, which workers read.
SECRETS_KEY=${secret()}
# With it /metrics is read, by the Prometheus of the profile \`monitoring\` too; and Grafana's administrator signs in with the other.
METRICS_TOKEN=${secret()}
GRAFANA_PASSWORD=${secret()}
# Keys of an object store for the pages that spiders keep. For that of the profile \`objectstore\`: S3_ENDPOINT=http://objects:8333
S3_ACCESS_KEY=orbweaver
S3_SECRET_KEY=${secret()}
# S3_ENDPOINT=
TZ=Asia/Shanghai
# Group of /var/run/docker.sock (stat -c %g), with which the scaler starts and stops workers.
DOCKER_GID=${dockerGroup()}
# PUBLIC_URL=https://crawler.example.com
# HTTP_BIND=127.0.0.1
# NOFILE=65535
`
try {
  // `wx` refuses an existing file: new passwords would lock out the data that was stored with the old ones.
  writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
  console.error(`Wrote ${file}. Next: docker compose up -d --build --wait`)
} catch (error) {
  console.error(
    error.code === 'EEXIST'
      ? `${file} exists already and is left as it is; move it away first if you want new secrets (stored data keeps its old passwords).`
      : `${file} could not be written (${error.message}); run this in a folder of yours, or name one: npm run init -- FOLDER`,
  )
  process.exitCode = 1
}
