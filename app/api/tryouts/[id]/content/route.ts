import { answer } from '../../../../../server/api/answer'
import { tryoutContent } from '../../../../../server/api/tryout-page'

/** `GET /api/tryouts/<id>/content?queue=`: the page that a trial fetched, to be looked at in a frame that may do nothing. */
export async function GET(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  const { id } = await params
  const queue = new URL(request.url).searchParams.get('queue') ?? ''
  return answer(request, (ctx) => tryoutContent(ctx, { id, queue }))
}
