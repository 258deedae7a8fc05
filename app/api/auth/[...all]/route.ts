import { openConsole } from '../../../../server/api/console'
import { refusal } from '../../../../server/api/request-check'

const handler = async (request: Request) => {
  const { auth } = await openConsole()
  return refusal(request) ?? auth.handler(request)
}

export { handler as GET, handler as POST }
