import { EventNews } from './event-tail.ts';
import { QueueFile, type QueueFileOptions } from './queue-file.ts';
import { TurnBudget } from './turn-budget.ts';
import { WakeUps } from './wake-ups.ts';

/** Everything the queues, workers and listeners of one process share about one file. */
export class SharedFile {
  readonly file: QueueFile;
  readonly clock: () => number;
  readonly turns = new TurnBudget();
  readonly wakeUps: WakeUps;
  readonly news = new EventNews();
  /** Names of the workers and listeners now open, for `getWorkers` and `getQueueEvents`. */
  readonly clients = new Map<object, string>();
  #foreignChanges = 0;
  #poll: NodeJS.Timeout | undefined;

  constructor(path: string, options: QueueFileOptions, clock: () => number) {
    this.file = new QueueFile(path, options);
    this.clock = clock;
    this.wakeUps = new WakeUps(this.file, clock);
  }

  /** Looks every `everyMs` for commits of other processes. The timer keeps no process alive. */
  startPolling(everyMs: number): void {
    this.#foreignChanges = this.file.foreignChanges();
    this.#poll = setInterval(() => this.#lookForForeignChanges(), everyMs).unref();
  }

  close(): void {
    clearInterval(this.#poll);
    this.file.close();
    this.wakeUps.wakeAll();
    this.news.announceAll();
  }

  #lookForForeignChanges(): void {
    const changes = this.file.foreignChanges();
    if (changes === this.#foreignChanges) return;
    this.#foreignChanges = changes;
    this.wakeUps.reconsiderAll();
    this.news.announceAll();
  }
}
