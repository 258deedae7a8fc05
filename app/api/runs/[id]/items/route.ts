import { answer } from '../../../../../server/api/answer'
import { downloadItems } from '../../../../../server/api/item-download'

/** `GET /api/runs/<run>/items?kind=…&format=csv|jsonl|json`: a run's items as a file. */
export async function GET(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  const id = Number((await params).id)
  return answer(request, (ctx) => downloadItems(ctx, request, id))
}
