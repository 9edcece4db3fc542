import { describe, expect, it, onTestFinished } from 'vitest';
import { appendEvents, findEndOfEvents, readEventsAfter, trimEvents } from './events.ts';
import { QueueFile } from './queue-file.ts';
import { getQueueId, QueueScope } from './queue-scope.ts';

function history() {
  const file = new QueueFile(':memory:', { synchronous: 'normal', busyTimeoutMs: 0, events: true });
  onTestFinished(() => file.close());
  const queueId = getQueueId(file, 'q');
  return {
    file,
    queueId,
    /** Writes numbered events at the given time, as one operation. */
    write: (now: number, ...numbers: number[]) => {
      const scope = new QueueScope(file, queueId, now);
      for (const n of numbers) scope.emit('n', { n });
      return appendEvents(scope);
    },
    /** Lists the numbers of the events after a cursor, read page by page like a listener. */
    read: (cursor: string) => {
      const seen: number[] = [];
      let at = cursor;
      for (;;) {
        const page = readEventsAfter(file, queueId, at);
        if (page.length === 0) return seen;
        for (const [id, fields] of page) {
          at = id;
          seen.push(Number(fields[3]));
        }
      }
    },
  };
}

describe('the event history', () => {
  it('uses ids like those in a Redis stream: time and number', () => {
    const { file, queueId, write } = history();
    write(1_700_000_000_000, 1, 2);
    write(1_700_000_000_000, 3);
    const ids = readEventsAfter(file, queueId, '0').map(([id]) => id);
    expect(ids).toEqual(['1700000000000-0', '1700000000000-1', '1700000000000-100']);
  });

  it('reads events from the beginning, from a time, and after any event', () => {
    const { write, read } = history();
    write(1000, 1, 2);
    write(2000, 3);
    const last = write(2000, 4, 5);
    for (const beginning of ['0', '0-0', '']) expect(read(beginning)).toEqual([1, 2, 3, 4, 5]);
    expect(read('1500')).toEqual([3, 4, 5]);
    expect(read('1000-0')).toEqual([2, 3, 4, 5]);
    expect(read('2000-100')).toEqual([5]);
    expect(read(last ?? '')).toEqual([]);
  });

  it('keeps its order when the clock is set back or one operation writes many events', () => {
    const { file, queueId, write, read } = history();
    const many = Array.from({ length: 1234 }, (_, n) => n);
    write(5000, ...many);
    const end = findEndOfEvents(file, queueId);
    write(1000, 2000);
    expect(read('0')).toEqual([...many, 2000]);
    expect(read(end)).toEqual([2000]);
  });

  it('removes the oldest events when it is trimmed', () => {
    const { file, queueId, write, read } = history();
    for (let n = 0; n < 100; n += 1) write(1000 + n, n);
    trimEvents(new QueueScope(file, queueId, 2000), 20);
    expect(read('0')).toEqual([90, 91, 92, 93, 94, 95, 96, 97, 98, 99]);
  });
});
