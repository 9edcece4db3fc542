/** A task, which never rejects. */
type LaneTask = () => Promise<void>;

/** The maximum number of tasks that can wait in one lane. */
const MAX_WAITING = 1_000;

/**
 * Runs the tasks for one channel in order, but different channels concurrently. Tasks wait while
 * lanes are held, so that missed messages can be queued before them.
 */
export class TaskLanes {
  readonly #lanes = new Map<string, LaneTask[]>();
  readonly #running = new Set<string>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #holders = new Set<number>();
  #closed = false;

  /**
   * A full lane accepts `instead` once. It replaces this task and all later tasks, which are
   * dropped.
   */
  push(channelId: string, task: LaneTask, instead?: LaneTask): 'queued' | 'instead' | 'left' {
    const lane = this.#lane(channelId);
    const takesInstead = lane.length === MAX_WAITING && instead !== undefined;
    const placed = lane.length < MAX_WAITING ? 'queued' : takesInstead ? 'instead' : 'left';
    if (placed === 'queued') lane.push(task);
    else if (takesInstead) lane.push(instead);
    this.#run(channelId);
    return placed;
  }

  /** Queues a task before all waiting ones. */
  unshift(channelId: string, task: LaneTask): void {
    this.#lane(channelId).unshift(task);
    this.#run(channelId);
  }

  /** Keeps tasks from starting until every holder has called release. */
  hold(holder: number): void {
    this.#holders.add(holder);
  }

  release(holder: number): void {
    this.#holders.delete(holder);
    for (const channelId of this.#lanes.keys()) this.#run(channelId);
  }

  /** Drops waiting tasks; resolves when running tasks have completed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#lanes.clear();
    await Promise.all(this.#tasks);
  }

  #lane(channelId: string): LaneTask[] {
    const lane = this.#lanes.get(channelId) ?? [];
    if (!this.#closed) this.#lanes.set(channelId, lane);
    return lane;
  }

  #run(channelId: string): void {
    if (this.#holders.size > 0 || this.#running.has(channelId) || this.#closed) return;
    const task = this.#lanes.get(channelId)?.shift();
    if (task === undefined) {
      this.#lanes.delete(channelId);
      return;
    }
    this.#running.add(channelId);
    const done = task().then(() => {
      this.#tasks.delete(done);
      this.#running.delete(channelId);
      this.#run(channelId);
    });
    this.#tasks.add(done);
  }
}
