import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { createContext } from '../../../../server/api/context'
import { refusal } from '../../../../server/api/request-check'
import { appRouter } from '../../../../server/api/root'

const handler = async (request: Request) => {
  const refused = refusal(request)
  if (refused) return refused
  return fetchRequestHandler({
    endpoint: '/api/trpc',
    req: request,
    router: appRouter,
    maxBatchSize: 20,
    createContext: () => createContext(request.headers),
  })
}

export { handler as GET, handler as POST }
