export function buildDist(root: string, building: () => void): Promise<void>
export function fingerprint(root: string, paths: string[]): Promise<string>
