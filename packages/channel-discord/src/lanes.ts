/** Something to do with the messages of one channel. Never rejects. */
export type Work = () => Promise<void>;

/** So many pieces of work may wait in one lane. */
const LONGEST = 1_000;

/**
 * Does the work of one channel in order, channels side by side. While it is held, work waits: what was
 * missed is put in front before what is new.
 */
export class Lanes {
  readonly #lanes = new Map<string, Work[]>();
  readonly #running = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #holders = new Set<number>();
  #closed = false;

  /**
   * Behind all that waits; where there is no room `instead` takes its place, and that of what follows,
   * and it is false.
   */
  push(channelId: string, work: Work, instead?: Work): boolean {
    const lane = this.#lane(channelId);
    const hasRoom = lane.length < LONGEST;
    if (hasRoom) lane.push(work);
    else if (lane.length === LONGEST && instead !== undefined) lane.push(instead);
    this.#run(channelId);
    return hasRoom;
  }

  /** Before all that waits. */
  unshift(channelId: string, work: Work): void {
    this.#lane(channelId).unshift(work);
    this.#run(channelId);
  }

  /** Nothing begins until each holder has let go. */
  hold(holder: number): void {
    this.#holders.add(holder);
  }

  letGo(holder: number): void {
    this.#holders.delete(holder);
    for (const channelId of this.#lanes.keys()) this.#run(channelId);
  }

  /** Drops what waits; resolves when what is under way has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#lanes.clear();
    await Promise.all(this.#underWay);
  }

  #lane(channelId: string): Work[] {
    const lane = this.#lanes.get(channelId) ?? [];
    if (!this.#closed) this.#lanes.set(channelId, lane);
    return lane;
  }

  #run(channelId: string): void {
    if (this.#holders.size > 0 || this.#running.has(channelId) || this.#closed) return;
    const work = this.#lanes.get(channelId)?.shift();
    if (work === undefined) {
      this.#lanes.delete(channelId);
      return;
    }
    this.#running.add(channelId);
    const done = work().then(() => {
      this.#underWay.delete(done);
      this.#running.delete(channelId);
      this.#run(channelId);
    });
    this.#underWay.add(done);
  }
}
