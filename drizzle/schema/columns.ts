import { customType, datetime } from 'drizzle-orm/mysql-core'

/** An instant in UTC with milliseconds. */
export const instant = (name: string) => datetime(name, { mode: 'date', fsp: 3 })

/** `bytes(32)` for hashes: compared byte by byte, unlike text, whose collation may merge `/A` with `/a`. */
export const bytes = customType<{ data: Buffer; config: { length: number } }>({
  dataType: (config) => `binary(${config?.length ?? 32})`,
})

export const blob = customType<{ data: Buffer }>({ dataType: () => 'mediumblob' })

/**
 * JSON kept as text: exact to the byte (a JSON column may reorder keys and round numbers), and read alike from MySQL and
 * MariaDB, whose drivers disagree on whether a JSON column arrives parsed. SQL's JSON functions accept it all the same.
 */
export const json = <T>(name: string) =>
  customType<{ data: T; driverData: string }>({
    dataType: () => 'longtext',
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (text) => JSON.parse(text) as T,
  })(name)
