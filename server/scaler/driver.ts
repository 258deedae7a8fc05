/** A way to have more or fewer workers: where they run is the driver's matter alone. */
export interface Driver {
  /**
   * Brings the workers of a queue to `wanted`. What is too many drains: it takes nothing more, ends or hands back what it
   * holds, and ends. Repeating it changes nothing. @returns how many were there before.
   * @throws UserError when this driver cannot have them, with the reason.
   */
  scale(queue: string, kind: 'http' | 'render', wanted: number): Promise<number>
}
