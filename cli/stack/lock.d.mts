export function lockFolder(folder: string, waiting: () => void): Promise<() => Promise<void>>
