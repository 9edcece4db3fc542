import { Queue, Worker } from 'bullmq';
import { openSqliteQueues } from '../open-sqlite-queues.ts';

/** A task from the parent process, which the child answers with one message per event. */
export type ChildTask =
  /** Takes jobs and never finishes them, until the process is killed while they are active. */
  | { readonly do: 'hang'; readonly file: string; readonly queue: string }
  /** Processes jobs until it is told to stop, and reports which jobs it ran. */
  | { readonly do: 'work'; readonly file: string; readonly queue: string }
  /** Adds `count` deduplicated jobs for each of 10 chats. */
  | {
      readonly do: 'produce';
      readonly file: string;
      readonly queue: string;
      readonly count: number;
    };

export type ChildMessage =
  | { readonly what: 'ready' }
  | { readonly what: 'started'; readonly jobId: string; readonly name: string }
  | { readonly what: 'done' };

const CHATS = 10;

process.once('message', (task) => {
  runTask(task as ChildTask).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
});

async function runTask(task: ChildTask): Promise<void> {
  const sqlite = openSqliteQueues({ file: task.file });
  if (task.do === 'produce') {
    const queue = new Queue(task.queue, { connection: {} }, sqlite.backend);
    for (let n = 0; n < task.count * CHATS; n += 1) {
      const id = `chat-${n % CHATS}`;
      await queue.add(id, {}, { deduplication: { id, keepLastIfActive: true } });
    }
    await queue.close();
    sendToParent({ what: 'done' });
    return;
  }
  const worker = new Worker(
    task.queue,
    async (job) => {
      sendToParent({ what: 'started', jobId: job.id ?? '', name: job.name });
      if (task.do === 'hang') await new Promise(() => {});
    },
    { connection: {}, concurrency: 5 },
    sqlite.backend,
  );
  await worker.waitUntilReady();
  sendToParent({ what: 'ready' });
  process.once('disconnect', () => void worker.close().then(() => sqlite.close()));
}

function sendToParent(news: ChildMessage): void {
  process.send?.(news);
}
