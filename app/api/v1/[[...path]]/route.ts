import { handle } from '../../../../server/api/v1/handle'

export const dynamic = 'force-dynamic'

/** `/api/v1/…`: the API for programs, described at /api/docs. */
const answer = (request: Request) => handle(request)

export { answer as DELETE, answer as GET, answer as OPTIONS, answer as PATCH, answer as POST, answer as PUT }
