/** Escapes text for HTML content and double-quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

const CSS = `
:root{--ink:#22301f;--leaf:#3c6e47;--paper:#fbf9f3;--line:#e2dccb}
*{box-sizing:border-box}body{margin:0;font:16px/1.6 Georgia,'Noto Serif CJK SC',serif;color:var(--ink);background:var(--paper)}
header,footer{background:var(--leaf);color:#fff;padding:1rem 5vw}header b{font-size:1.3rem;letter-spacing:.04em}
nav a,footer a{color:#fff;margin-right:1.1rem;text-decoration:none}nav a:hover,footer a:hover{text-decoration:underline}
main{max-width:62rem;margin:2rem auto;padding:0 5vw}a{color:var(--leaf)}h1{line-height:1.2}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(11rem,1fr));gap:1rem;padding:0;list-style:none}
.grid li{background:#fff;border:1px solid var(--line);border-radius:.6rem;padding:1rem}
.price{font-weight:bold}.stock{color:#6b6b5e}.review{border-left:3px solid var(--line);padding-left:1rem;margin:1rem 0}
.pages a,.pages b{padding:.2rem .6rem;border:1px solid var(--line);border-radius:.3rem;margin-right:.3rem}
table{border-collapse:collapse}td,th{border:1px solid var(--line);padding:.35rem .7rem}
`.replaceAll('\n', '')

export interface Shell {
  title: string
  description: string
  language: string
  /** Charset for the meta element. */
  charset: string
  /** HTML of the navigation, the content and the footer. */
  nav: string
  main: string
  footer: string
  /** What `<base href>` says, where the page has one. */
  base?: string
}

/** A whole document around a page's content. */
export function shell(page: Shell): string {
  return `<!doctype html>
<html lang="${page.language}">
<head>
<meta charset="${page.charset}">
<title>${escapeHtml(page.title)} · Lantern &amp; Leaf</title>
<meta name="description" content="${escapeHtml(page.description)}">
<meta name="viewport" content="width=device-width, initial-scale=1">${page.base ? `\n<base href="${escapeHtml(page.base)}">` : ''}
<style>${CSS}</style>
</head>
<body>
<header><b>Lantern &amp; Leaf</b><nav>${page.nav}</nav></header>
<!-- <a href="/in-a-comment">not a link</a> -->
<main>
${page.main}
</main>
<footer>${page.footer}</footer>
</body>
</html>
`
}

/** The picture of a product: a tea leaf in a colour of its own, drawn in place. */
export function picture(hue: number): string {
  return `<svg viewBox="0 0 80 50" width="160" role="img" aria-label="A tea leaf"><path d="M8 40C10 12 40 4 72 8 70 34 44 48 8 40Z" fill="hsl(${hue} 40% 45%)"/><path d="M8 40C30 32 50 22 72 8" stroke="#fff" fill="none"/></svg>`
}
