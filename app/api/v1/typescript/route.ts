import { typescriptClient } from '../../../../server/api/v1/typescript-client'

export const dynamic = 'force-dynamic'

/** `GET /api/v1/typescript`: the client of this API as a file. It takes no key, as the description does. */
export const GET = () =>
  new Response(typescriptClient(), {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': 'attachment; filename="orbweaver.ts"',
      'cache-control': 'no-cache',
    },
  })
