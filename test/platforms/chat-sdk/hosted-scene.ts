import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createChatSdkChannel } from '@parley/channel-chat-sdk';
import type { ChannelAdapter, ChannelEnv } from '@parley/channels';
import { type CoreOverrides, createCore, type ReportedEvents } from '../adapter-core.ts';

const cleanUp: (() => Promise<void>)[] = [];

/** A hosted adapter behind a web server like the gateway's, with its reports to the core. */
export interface HostedScene extends ReportedEvents {
  readonly adapter: ChannelAdapter;
  /** The URL that the platform calls. */
  readonly url: string;
  /** Creates another adapter with the data stored by the first adapter, behind the same address. */
  again(): Promise<ChannelAdapter>;
}

export interface HostedOptions extends CoreOverrides {
  readonly id: string;
  readonly use: string;
  readonly options: object;
  /** Called after every report to the core. */
  readonly changed: () => void;
}

/** Makes pauses between attempts negligible. */
const env: ChannelEnv = {
  random: () => 0,
  wait: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, 20));
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    }),
};

/** Hosts an adapter without starting it. */
export async function startHosted(wishes: HostedOptions): Promise<HostedScene> {
  const { id, use, options, changed } = wishes;
  let served: ChannelAdapter | undefined;
  const { url, close } = await serveAdapter(() => served);
  const definition = createChatSdkChannel(id, use);
  const settings = definition.settings.parse({ use, options });
  const { told, context } = createCore(settings, changed, wishes);
  const connect = await definition.load();
  const make = () => {
    const adapter = connect(context, env);
    served = adapter;
    return adapter;
  };
  const adapter = make();
  const all = [adapter];
  cleanUp.push(async () => {
    await Promise.all(all.map((each) => each.stop()));
    await close();
  });
  return {
    ...told,
    adapter,
    url: `${url}/channels/${id}/default/`,
    async again() {
      await served?.stop();
      const next = make();
      all.push(next);
      return next;
    },
  };
}

/** Closes everything that `hosted` started. */
export async function endHosted(): Promise<void> {
  for (const close of cleanUp.splice(0).reverse()) await close();
}

export function addCleanup(close: () => Promise<void>): void {
  cleanUp.unshift(close);
}

async function serveAdapter(adapter: () => ChannelAdapter | undefined) {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', headers, url } = request;
    const body = method === 'GET' ? {} : { body: Readable.toWeb(request), duplex: 'half' };
    const asked = new Request(`http://gateway${url}`, {
      method,
      headers: headers as Record<string, string>,
      ...body,
    } as RequestInit);
    const answer = (await adapter()?.http?.fetch(asked)) ?? new Response(null, { status: 404 });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
  const server = createServer((request, response) => {
    // Closes open requests at the end of a test.
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
