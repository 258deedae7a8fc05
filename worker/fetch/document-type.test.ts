import { expect, it } from 'vitest'
import { documentType } from './document-type'

it.each([
  ['%PDF-1.7 …', 'text/html', 'binary'],
  ['garbage\n%PDF-1.7', 'text/html', 'binary'],
  ['<p>about %PDF- files', 'text/html', 'html'],
  ['\x89PNG\r\n\x1a\n', 'text/html', 'binary'],
  ['GIF89a', 'text/html; charset=utf-8', 'binary'],
  ['\xff\xd8\xff\xe0', 'text/html', 'binary'],
  ['PK\x03\x04', 'text/html', 'binary'],
  ['RIFF\x10\0\0\0WEBPVP8', 'text/html', 'binary'],
  ['\0\0\0\x18ftypmp42', 'text/html', 'binary'],
  ['\x01\x02\x03\x04 no text', 'text/html', 'binary'],
  [`${'x'.repeat(1000)}\0 one stray NUL`, 'text/html', 'html'],
  ['\xff\xfe<\0p\0', 'text/html', 'html'],
  ['<p>x', 'text/html', 'html'],
  ['', 'text/html', 'html'],
  ['<p>x', 'application/xhtml+xml', 'html'],
  ['<!DOCTYPE html><p>', '', 'html'],
  ['<!-- c --> <html>', 'application/octet-stream', 'html'],
  ['<!DOCTYPE html>', 'text/plain', 'text'],
  ['{"a": 1}', 'application/ld+json', 'json'],
  ['<rss>', 'application/rss+xml', 'xml'],
  ['<?xml version="1.0"?><urlset>', 'text/plain', 'xml'],
  ['plain words', '', 'text'],
])('%j as %j is %s', (body, contentType, type) => {
  expect(documentType(Buffer.from(body, 'latin1'), contentType || null)).toBe(type)
})
