import { LANGUAGES, openApiDocument } from '../../../../server/api/v1/openapi'

export const dynamic = 'force-dynamic'

/**
 * `GET /api/v1/openapi.json`: the description of the API, in Chinese with `?language=zh-CN`. It takes no key, since it is the
 * same everywhere and tells nothing of this installation.
 */
export function GET(request: Request): Response {
  const asked = new URL(request.url).searchParams.get('language')
  const language = LANGUAGES.find((one) => one === asked) ?? 'en'
  return Response.json(openApiDocument(language), { headers: { 'cache-control': 'no-cache' } })
}
