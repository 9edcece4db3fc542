import { Worker } from 'node:worker_threads';
import { moduleUrl } from '@parley/contracts/installation';
import { WebError } from '../web-error.ts';
import type { ReadablePage } from './html-to-markdown.ts';
import type { PageOrder } from './page-thread.ts';

const SOURCE = new URL('./page-thread.ts', import.meta.url);
/** Of the thread's own objects, in megabytes. */
const MEMORY = { maxOldGenerationSizeMb: 256 };

/**
 * Makes Markdown of a page in a thread of its own: a hostile page can be stopped in the middle of a
 * loop, holds up nobody, and the libraries are loaded there and nowhere else. Throws WebError
 * `web-format`, or what `signal` fired with.
 */
export async function convertPage(
  order: PageOrder,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ReadablePage> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<ReadablePage>();
  const thread = new Worker(moduleUrl('page-thread', SOURCE), {
    workerData: order,
    resourceLimits: MEMORY,
    // What libraries print about a page is nobody's business.
    stdout: true,
    stderr: true,
  });
  const fail = (why: string, cause?: unknown): void => {
    reject(new WebError('web-format', `The page cannot be read: ${why}.`, cause));
  };
  const stop = (): void => reject(signal.reason);
  const timer = setTimeout(
    () => fail(`making sense of it took longer than ${timeoutMs / 1_000} s`),
    timeoutMs,
  );
  signal.addEventListener('abort', stop, { once: true });
  thread.once('message', resolve);
  thread.on('error', (cause) => fail('it is too large or too deeply nested', cause));
  thread.once('exit', () => fail('making sense of it ended without a result'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    void thread.terminate();
  }
}
