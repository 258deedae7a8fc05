import { expect, test } from 'vitest'
import { coerced } from './values'

const base = 'http://shop.example/list/'

test.each([
  ['1299', 1299],
  ['1,299', 1299],
  ['1,234.50', 1234.5],
  ['1.234,50', 1234.5],
  ['1.234', 1.234],
  ['1.234.567', 1_234_567],
  ['1,23,456.00', 123_456],
  ['1,23,456', 123_456],
  ['12,5', 12.5],
  ['0,125', 0.125],
  ['1234,567', 1234.567],
  ['1 234,50 €', 1234.5],
  ['1\u202f234\u00a0567', 1_234_567],
  ['CHF 1’234.50', 1234.5],
  ['¥1,299', 1299],
  ['¥ 1,299.00 元', 1299],
  ['US$ 5', 5],
  ['１２，５００円', 12_500],
  ['1.2万', 12_000],
  ['3 亿', 300_000_000],
  ['-5', -5],
  ['−5 °C', -5],
  ['-$5.50', -5.5],
  ['$-5.50', -5.5],
  ['model A-5', 5],
  ['1e-3', 0.001],
  ['.5', 0.5],
  ['12.', 12],
  ['from 10 to 20', 10],
  ['10–20', 10],
  ['3 2', 3],
  ['1.2.3', null],
  ['', null],
  ['none', null],
  ['9'.repeat(400), null],
])('number: %j is %j', (text, expected) => {
  expect(coerced({ type: 'number' }, text, base)).toBe(expected)
})

test.each([
  ['1,234 views', 1234],
  ['4.0', 4],
  ['4.5', null],
  ['9007199254740993', null],
])('integer: %j is %j', (text, expected) => {
  expect(coerced({ type: 'integer' }, text, base)).toBe(expected)
})

test.each([
  ['Yes', true],
  ['是', true],
  ['false', false],
  ['缺货', false],
  ['maybe', null],
  ['', null],
])('boolean: %j is %j', (text, expected) => {
  expect(coerced({ type: 'boolean' }, text, base)).toBe(expected)
})

test.each([
  ['../a b?x#y', 'http://shop.example/a%20b?x#y'],
  ['mailto:a@shop.example', 'mailto:a@shop.example'],
  ['javascript:x', null],
  ['http://[', null],
  ['', null],
])('url: %j is %j', (text, expected) => {
  expect(coerced({ type: 'url' }, text, base)).toBe(expected)
})

test.each([
  ['2024-05-06', '2024-05-06'],
  ['2024/5/6', '2024-05-06'],
  ['发布于 2024年5月6日 12:30', '2024-05-06T12:30:00'],
  ['2024-05-06T12:30:15Z', '2024-05-06T12:30:15Z'],
  ['2024-05-06T12:30:15.123+08:00', '2024-05-06T04:30:15Z'],
  ['2024-05-06 12:30 +0800', '2024-05-06T04:30:00Z'],
  ['Mon, 06 May 2024 23:30:00 GMT', '2024-05-06T23:30:00Z'],
  ['May 6, 2024 at 1:05 pm', '2024-05-06T13:05:00'],
  ['6th of May 2024, 12:05 am', '2024-05-06T00:05:00'],
  ['Sept. 6, 2024', '2024-09-06'],
  ['6.5.2024', '2024-05-06'],
  ['25/12/2024', '2024-12-25'],
  ['12/25/2024', '2024-12-25'],
  ['5/5/2024', '2024-05-05'],
  ['5/6/2024', null],
  ['1714977015', '2024-05-06T06:30:15Z'],
  ['1714977015000', '2024-05-06T06:30:15Z'],
  ['2024-02-29', '2024-02-29'],
  ['2023-02-29', null],
  ['2024-13-01', null],
  ['yesterday', null],
  ['', null],
])('date: %j is %j', (text, expected) => {
  expect(coerced({ type: 'date' }, text, base)).toBe(expected)
})
