import { QueryObserver } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'
import { createQueryClient } from './query-client'

test('what was changed while its first answer was under way is read again, and the older answer is not shown', async () => {
  const client = createQueryClient()
  const answers: ((rows: string[]) => void)[] = []
  const observer = new QueryObserver<string[]>(client, {
    queryKey: ['seeds', 'list'],
    queryFn: () => new Promise((resolve) => answers.push(resolve)),
  })
  const leave = observer.subscribe(() => {})
  expect(answers).toHaveLength(1)
  const told = client.invalidateQueries({ queryKey: ['seeds'] })
  await vi.waitUntil(() => answers.length === 2, 20_000)
  answers[0]!([])
  answers[1]!(['https://a.test/'])
  await told
  expect(observer.getCurrentResult().data).toEqual(['https://a.test/'])
  leave()
})
