import { answer } from '../../../../server/api/answer'
import { fileRefusal } from '../../../../server/api/request-check'
import { takeSeedFile } from '../../../../server/api/seed-file'

/** `POST /api/seeds/file?as={…}`: a file of seeds as the body, read while it arrives. Answers with the import's report. */
export async function POST(request: Request): Promise<Response> {
  return (
    fileRefusal(request) ?? answer(request, async (ctx) => Response.json(await takeSeedFile(ctx, request)))
  )
}
