/** What the sign-in endpoints refuse with. */
export class AuthRefusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/**
 * Calls an endpoint of /api/auth, which may set or clear the session cookie. @returns what it answers, whose form is the caller's to
 * know. @throws AuthRefusal with the server's sentence.
 */
export async function postAuth<T = unknown>(path: string, body: Record<string, unknown>): Promise<T> {
  const response = await fetch(`/api/auth/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.ok) return response.json()
  const answer = (await response.json().catch(() => ({}))) as { message?: string }
  throw new AuthRefusal(response.status, answer.message ?? `HTTP ${response.status}`)
}
