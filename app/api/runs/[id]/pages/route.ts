import { answer } from '../../../../../server/api/answer'
import { downloadPages } from '../../../../../server/api/page-download'

/** `GET /api/runs/<run>/pages?format=csv|jsonl|txt&state=…&host=…`: the pages of a run that answer to a filter, as a file. */
export async function GET(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  const id = Number((await params).id)
  return answer(request, (ctx) => downloadPages(ctx, request, id))
}
