import { answer } from '../../../../../../../server/api/answer'
import { keptPage } from '../../../../../../../server/api/kept-page'

/** `GET /api/runs/<run>/pages/<hash>/content`: the page as it was kept, to be looked at in a frame that may do nothing. */
export async function GET(
  request: Request,
  { params }: { params: Promise<{ id: string; hash: string }> },
): Promise<Response> {
  const { id, hash } = await params
  return answer(request, (ctx) => keptPage(ctx, { run: id, hash }))
}
