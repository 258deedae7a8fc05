/** The part of OpenAPI 3.1 that our document is made of. */
export type Json = string | number | boolean | null | Json[] | JsonObject
export type JsonObject = { [name: string]: Json }

export interface Parameter extends JsonObject {
  name: string
  in: string
  schema: JsonObject
}

export interface OpenApiOperation extends JsonObject {
  operationId: string
  tags: string[]
  summary: string
  'x-role': string
  parameters: (Parameter | { $ref: string })[]
  responses: JsonObject
}

export interface OpenApi extends JsonObject {
  info: { title: string; version: string; description: string }
  tags: { name: string; 'x-displayName': string; description: string }[]
  paths: { [path: string]: { [method: string]: OpenApiOperation } }
  components: JsonObject & { schemas: { [name: string]: JsonObject } }
}
