import { AsyncLocalStorage } from 'node:async_hooks';
import { type ChannelContext, parseJson } from '@parley/channels';
import { BoundedMap, ChannelError, toLiteralMarkdown } from '@parley/core';
import type { Adapter } from 'chat';
import { z } from 'zod';
import { createTooLargeError, downloadFile, type FileDownloader } from './attachments.ts';

const Status = z.object({
  id: z.string(),
  status: z.string(),
  recipient_id: z.string().optional(),
  biz_opaque_callback_data: z.string().optional(),
  errors: z
    .array(z.object({ code: z.number(), title: z.string().optional() }))
    .optional()
    .catch(undefined),
});
const Event = z.object({
  entry: z.array(
    z.object({
      changes: z.array(
        z.object({ value: z.object({ statuses: z.array(Status).optional().catch(undefined) }) }),
      ),
    }),
  ),
});

type StatusDeps = Pick<ChannelContext<unknown>, 'notifyOwner' | 'log' | 'clock'>;

const MAX_KNOWN = 5_000;

/**
 * The delivery statuses that WhatsApp reports for accepted messages. A status contains the
 * message's key. It can therefore confirm a message from an earlier process, even though the bot
 * cannot read the history. A message can still fail after WhatsApp has accepted it, and only a
 * status reports this.
 */
export class CloudStatusTracker {
  readonly #deps: StatusDeps;
  readonly #sending = new AsyncLocalStorage<string>();
  /** Message ids, keyed by the keys of their message parts. */
  readonly #arrived = new BoundedMap<string, string>(MAX_KNOWN);
  readonly #waiting = new Map<string, (messageId: string) => void>();

  constructor(adapter: Adapter, deps: StatusDeps) {
    this.#deps = deps;
    const cloud = adapter as unknown as {
      graphApiRequest(path: string, body: object): Promise<unknown>;
    };
    const { graphApiRequest } = cloud;
    cloud.graphApiRequest = (path, body) => {
      const key = this.#sending.getStore();
      const isMessage = 'type' in body && key !== undefined;
      const sent = isMessage ? { ...body, biz_opaque_callback_data: key } : body;
      return graphApiRequest.call(adapter, path, sent);
    };
  }

  /** Runs a send whose message statuses contain the key. */
  readonly keyed = <T>(key: string, send: () => Promise<T>): Promise<T> =>
    this.#sending.run(key, send);

  /** Reads the statuses in a request that the adapter has accepted. */
  readonly heard = (body: string): void => {
    const { data } = Event.safeParse(parseJson(body));
    const changes = data?.entry.flatMap((entry) => entry.changes) ?? [];
    for (const status of changes.flatMap(({ value }) => value.statuses ?? [])) this.#note(status);
  };

  /** Waits for a status of the message part; undefined once the signal is aborted. */
  find(key: string, signal: AbortSignal): Promise<string | undefined> {
    const known = this.#arrived.get(key);
    if (known !== undefined || signal.aborted) return Promise.resolve(known);
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#waiting.set(key, resolve);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
    return promise.finally(() => this.#waiting.delete(key));
  }

  #note({ id, status, biz_opaque_callback_data: key, ...more }: z.infer<typeof Status>): void {
    if (status === 'failed') this.#report(more);
    else if (key !== undefined) {
      this.#arrived.set(key, id);
      this.#waiting.get(key)?.(id);
    }
  }

  #report({ recipient_id: to, errors }: Pick<z.infer<typeof Status>, 'recipient_id' | 'errors'>) {
    const { log, notifyOwner, clock } = this.#deps;
    const [{ code = 0, title = 'no reason given' } = {}] = errors ?? [];
    log.warn({ code, title }, 'WhatsApp could not deliver a message that it had accepted');
    const day = new Date(clock()).toISOString().slice(0, 10);
    const whom = to === undefined ? 'somebody' : toLiteralMarkdown(to);
    const text = `WhatsApp accepted a message for ${whom} but could not deliver it: ${toLiteralMarkdown(title)} (${code}).`;
    notifyOwner(`undelivered ${code} ${to ?? ''} ${day}`, text).catch(() => undefined);
  }
}

const Media = z.object({ url: z.string(), file_size: z.number().optional() });
const MEDIA_HOSTS = /(?:^|\.)(?:fbcdn\.net|fbsbx\.com)$/;
/** The maximum size of a file's metadata, in bytes. */
const MAX_DESCRIPTION = 100_000;

/** Downloads WhatsApp files in chunks, because the adapter loads a whole file into memory. */
export function createCloudFileDownloader(adapter: Adapter): FileDownloader {
  const { graphApiUrl, accessToken } = adapter as unknown as {
    readonly graphApiUrl: string;
    readonly accessToken: string;
  };
  const source = { platform: 'WhatsApp', token: accessToken };
  const fetchMedia = async (id: string, limit: number, signal: AbortSignal) => {
    const about = `${graphApiUrl}/${encodeURIComponent(id)}`;
    const described = await downloadFile(about, source, MAX_DESCRIPTION, signal);
    const { url, file_size = 0 } = Media.parse(parseJson(Buffer.from(described).toString()));
    if (file_size > limit) throw createTooLargeError(limit);
    const { host, hostname, protocol } = new URL(url);
    // The token is sent only to Meta.
    const isMeta = protocol === 'https:' && MEDIA_HOSTS.test(hostname);
    if (isMeta || host === new URL(graphApiUrl).host) {
      return downloadFile(url, source, limit, signal);
    }
    throw new ChannelError(
      { kind: 'refused' },
      `The URL of a WhatsApp file is on an unexpected host: ${hostname}.`,
    );
  };
  return ({ fetchMetadata }, limit, signal) =>
    fetchMetadata?.mediaId === undefined
      ? undefined
      : fetchMedia(fetchMetadata.mediaId, limit, signal);
}
