import { dehydrate, type FetchQueryOptions, HydrationBoundary } from '@tanstack/react-query'
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query'
import { headers } from 'next/headers'
import { cache, type ReactNode } from 'react'
import { env } from '../core/env'
import { createContext } from '../server/api/context'
import { appRouter } from '../server/api/root'
import { createCaller } from '../server/api/trpc'
import { createQueryClient } from './query-client'

/**
 * The way of pages to the procedures: in this process, with the reader's own session, through the same checks as a
 * request from outside. The only file of `app/`, besides route handlers, that imports the server.
 */
const queryClient = cache(createQueryClient)
const context = cache(async () => createContext(await headers()))

// biome-ignore lint/suspicious/noExplicitAny: the data of any query; nothing here looks into it.
type Query = FetchQueryOptions<any, any, any, any>

export const serverTrpc = cache(() =>
  createTRPCOptionsProxy({ ctx: context, router: appRouter, queryClient }),
)

/** For a page that decides by an answer, such as whether to lead elsewhere. */
export const serverCaller = async () => createCaller(appRouter)(await context())

/** Runs queries before the page is sent, so that it arrives filled; one that fails is tried again by the browser. */
export async function prefetch(...queries: Query[]): Promise<void> {
  await Promise.all(queries.map(fetchFirst))
}

/** As `prefetch`, for one query whose failure the page looks at. @returns the error, or null. */
export async function fetchFirst(query: Query): Promise<unknown> {
  await queryClient().prefetchQuery({ ...query, retry: false })
  return queryClient().getQueryState(query.queryKey)?.error ?? null
}

/** Hands what was prefetched to the queries of the components below. */
export function Prefetched({ children }: { children: ReactNode }) {
  return <HydrationBoundary state={dehydrate(queryClient())}>{children}</HydrationBoundary>
}

/** The person who reads, or null; throws when the servers behind the console are away. */
export async function readPerson() {
  const { person } = await context()
  return person
}

/** IANA zone in which the console shows times. */
export const serverZone = () => env().TZ

/** The API as its documentation shows it. */
export { apiReference } from '../server/api/v1/reference'
