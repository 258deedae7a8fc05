import { answer } from '../../../../../server/api/answer'
import { requireRole } from '../../../../../server/api/trpc'
import { BYTE_ORDER_MARK } from '../../../../../server/services/csv-cells'
import { rejectedLines } from '../../../../../server/services/import-list'

/** `GET /api/seeds/rejected/<import>`: the lines that could not be used, with their reasons, as a CSV file. */
export async function GET(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  return answer(request, async (ctx) => {
    requireRole(ctx.person, 'viewer')
    const id = Number((await params).id)
    return new Response(BYTE_ORDER_MARK + (await rejectedLines(ctx.services, id)), {
      headers: {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="rejected-lines-of-import-${id}.csv"`,
        'cache-control': 'no-store',
      },
    })
  })
}
