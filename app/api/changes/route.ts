import { answer } from '../../../server/api/answer'
import { downloadChanges } from '../../../server/api/change-download'

/** `GET /api/changes?format=csv|jsonl&actor=…&action=…&subject=…&from=…&to=…`: the audit log as a file, for administrators. */
export const GET = (request: Request) => answer(request, (ctx) => downloadChanges(ctx, request))
