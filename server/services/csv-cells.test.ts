import { expect, test } from 'vitest'
import { csvLine } from './csv-cells'

test.each(['=1+1', '+1', '-1+cmd', '@SUM(A1)', '\t=1', '\r=1'])(
  'text that a spreadsheet could run (%j) gets an apostrophe in front',
  (text) => {
    expect(csvLine([text])).toMatch(/^"?'/)
  },
)

test('everything else is written as it is: numbers below 0 too, quotes and line ends quoted, lists as JSON', () => {
  expect(csvLine([-5, 'a"b', 'x\ny', null, undefined, 'a=b', ['x', 1], true])).toBe(
    '-5,"a""b","x\ny",,,a=b,"[""x"",1]",true\r\n',
  )
})
