import { parentPort, workerData } from 'node:worker_threads';
import { htmlToMarkdown } from './html-to-markdown.ts';

/** What the thread is started with, by `convertPage` and nobody else. */
export interface PageOrder {
  readonly html: string;
  readonly url: string;
}

const { html, url }: PageOrder = workerData;
parentPort?.postMessage(htmlToMarkdown(html, url));
