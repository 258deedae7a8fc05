import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import chinese from '../../../messages/api.zh-CN.json'
import { openApiDocument, PARAGRAPH, TEXTS } from './openapi'
import type { Json } from './openapi-form'
import { operations } from './operations'
import { apiReference } from './reference'
import { sampleOf } from './sample'
import { typescriptClient } from './typescript-client'

test.each(['en', 'zh-CN'] as const)('the document in %s is valid OpenAPI 3.1', async (language) => {
  const validator = new Validator()
  const { errors } = await validator.validate(structuredClone(openApiDocument(language)))
  expect(errors).toBeUndefined()
  expect(validator.version).toBe('3.1')
})

test('the document has every operation of the API under its path and method, and nothing else', () => {
  const documented = Object.entries(openApiDocument().paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => `${one.operationId} ${method.toUpperCase()} ${path}`),
  )
  expect(documented.toSorted()).toEqual(operations.map(({ id, route }) => `${id} ${route}`).toSorted())
})

/** Every paragraph that people read. */
function textsOf(json: Json): string[] {
  if (Array.isArray(json)) return json.flatMap(textsOf)
  if (json === null || typeof json !== 'object') return []
  return Object.entries(json).flatMap(([name, value]) =>
    TEXTS.includes(name) && typeof value === 'string' ? value.split(PARAGRAPH) : textsOf(value),
  )
}

test('every text of the document exists in Chinese, and there is Chinese for nothing else', () => {
  expect(Object.keys(chinese).toSorted()).toEqual([...new Set(textsOf(openApiDocument()))].toSorted())
  expect(textsOf(openApiDocument('zh-CN')).filter((text) => !/[\u4e00-\u9fff]/.test(text))).toEqual([])
})

test('every body of which the documentation shows an example is one that the operation takes', () => {
  for (const { id, body } of operations) {
    if (!body) continue
    const path = Object.values(openApiDocument().paths).flatMap(Object.values)
    const { requestBody } = path.find(({ operationId }) => operationId === id)
    const { schema } = requestBody.content['application/json']
    expect(body.safeParse(sampleOf(schema, '')), id).toMatchObject({ success: true })
  }
})

test('the documentation shows each operation once, with a command to try it', () => {
  const shown = apiReference('en').groups.flatMap((group) => group.operations)
  expect(shown.map(({ id }) => id).toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
  expect(shown.find(({ id }) => id === 'startRun')!.curl).toBe(
    `curl -X POST "$ORBWEAVER/api/v1/runs" \\
  -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"spider":"shop"}'`,
  )
})

test('examples/client/orbweaver.generated.ts is the client of this API', async () => {
  // After a change: npm run docs
  await expect(typescriptClient()).toMatchFileSnapshot(
    join(import.meta.dirname, '../../../examples/client/orbweaver.generated.ts'),
  )
})
